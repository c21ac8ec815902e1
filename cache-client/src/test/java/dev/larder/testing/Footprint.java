package dev.larder.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process holds of the machine.
 *
 * @param descriptors open files, sockets and the like
 * @param threads alive
 */
public record Footprint(long descriptors, long threads) {
    /** Measures a process. */
    public static Footprint of(long pid) {
        Path process = Path.of("/proc", Long.toString(pid));
        return new Footprint(count(process.resolve("fd")), count(process.resolve("task")));
    }

    /** Tells whether this is no more than another was, but for a few that come and go. */
    public boolean isAtMost(Footprint other, int slack) {
        return descriptors <= other.descriptors + slack && threads <= other.threads + slack;
    }

    /** Returns how many bytes of this process's heap are reachable. */
    public static long heapBytes() {
        Runtime runtime = Runtime.getRuntime();
        for (int collection = 0; collection < 3; collection++) {
            System.gc();
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private static long count(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
