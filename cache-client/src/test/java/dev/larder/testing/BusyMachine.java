package dev.larder.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Says how long something may take: where others keep the processors busy, nobody can say. */
public final class BusyMachine {
    private static final Duration BOUND = Duration.ofSeconds(30);

    private BusyMachine() {}

    /** Returns the bound, or a much longer one where the machine was busy of late, or is so now. Ask after the measurement. */
    public static Duration boundOr(Duration bound) {
        return isBusy() ? BOUND : bound;
    }

    private static boolean isBusy() {
        try {
            String[] words = Files.readString(Path.of("/proc/loadavg")).split("[ /]", -1);
            int processors = Runtime.getRuntime().availableProcessors();
            return Double.parseDouble(words[0]) >= processors || Integer.parseInt(words[3]) > processors;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
