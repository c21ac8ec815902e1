package dev.larder.reader;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.logging.LogManager;

/**
 * Limits the logs of {@code java.util.logging} to warnings: failures quote the last lines of a reader, and notes of a library would look like the
 * reason. {@link LogManager} makes it, because {@code -Djava.util.logging.config.class} names it.
 */
public final class WarningsOnly {
    /** Sets the level of messages on standard error. */
    public WarningsOnly() throws IOException {
        String settings = "handlers=java.util.logging.ConsoleHandler\n.level=WARNING\n";
        LogManager.getLogManager()
                .readConfiguration(new ByteArrayInputStream(settings.getBytes(StandardCharsets.UTF_8)));
    }
}
