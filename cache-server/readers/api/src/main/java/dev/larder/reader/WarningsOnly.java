package dev.larder.reader;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.logging.LogManager;

/**
 * Lets libraries that log by {@code java.util.logging} print warnings alone: what a reader has printed last stands in the error when it
 * dies, where notes of a library would be taken for the reason. Made by {@link LogManager}, once something logs, because {@code
 * -Djava.util.logging.config.class} names it.
 */
public final class WarningsOnly {
    /** Sets what is printed, on standard error. */
    public WarningsOnly() throws IOException {
        String settings = "handlers=java.util.logging.ConsoleHandler\n.level=WARNING\n";
        LogManager.getLogManager()
                .readConfiguration(new ByteArrayInputStream(settings.getBytes(StandardCharsets.UTF_8)));
    }
}
