package dev.larder.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts programs with the signals of a terminal. A script that starts the tests with {@code &} or {@code nohup} has SIGINT,
 * SIGQUIT or SIGHUP ignored, and every process below it inherits that: a test that sends one would wait in vain.
 */
public final class DefaultSignals {
    private static final List<String> RESET = List.of("env", "--default-signal=INT,QUIT,HUP");
    private static final long INT_QUIT_HUP = 0b111;

    private DefaultSignals() {}

    /** Returns words that start the same program, and do not ignore what this JVM ignores. */
    public static List<String> of(List<String> words) {
        if ((ignoredBy("self") & INT_QUIT_HUP) == 0) {
            return words;
        }
        List<String> reset = new ArrayList<>(RESET);
        reset.addAll(words);
        return reset;
    }

    /** Returns the signals that a process ignores, named by its pid: signal n is bit n−1. */
    public static long ignoredBy(String process) {
        try {
            return Files.readAllLines(Path.of("/proc", process, "status")).stream()
                    .filter(line -> line.startsWith("SigIgn:"))
                    .mapToLong(line -> Long.parseUnsignedLong(line.substring(line.indexOf('\t') + 1), 16))
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
