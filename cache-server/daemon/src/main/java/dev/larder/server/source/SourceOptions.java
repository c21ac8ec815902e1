package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.Names;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * Says which files of a source are meant.
 *
 * @param keys keep exactly the files whose stem ends in {@code _} and one of these; empty keeps all
 */
public record SourceOptions(List<String> keys) {
    /** Checks the keys and drops repeated ones. */
    public SourceOptions {
        keys = List.copyOf(new LinkedHashSet<>(keys));
        for (String key : keys) {
            if (key.contains("/") || Names.arrayObjection(key) != null) {
                throw Failure.of(ErrorCode.USAGE, "bad key")
                        .with("key", Names.printable(key))
                        .remedy("give --keys the last parts of file names, as in --keys rgb,depth");
            }
        }
    }

    /** Returns the options that keep every file of a known kind. */
    public static SourceOptions none() {
        return new SourceOptions(List.of());
    }
}
