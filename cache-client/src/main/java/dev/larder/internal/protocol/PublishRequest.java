package dev.larder.internal.protocol;

import dev.larder.internal.layout.ColumnPart;
import java.util.Map;

/**
 * Asks the daemon to publish what a client built. No file of it may be open for writing any more.
 *
 * @param token from {@link Build}
 * @param parts the arrays that are parts of columns
 */
public record PublishRequest(long token, Map<String, ColumnPart> parts) implements Request {
    /** Copies the map. */
    public PublishRequest {
        parts = Map.copyOf(parts);
    }
}
