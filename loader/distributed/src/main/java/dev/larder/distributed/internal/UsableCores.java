package dev.larder.distributed.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;

/**
 * Finds the processors of a rank. If a launcher has divided them, the JVM reports the share of one rank. If it has bound each rank to some,
 * all of them count.
 */
public final class UsableCores {
    private static final String ALLOWED = "Cpus_allowed_list:";

    private UsableCores() {}

    /** Returns the processors that the scheduler allows this process, or the number of the JVM if they cannot be read. */
    public static BitSet allowed() {
        try {
            return allowed(Files.readAllLines(Path.of("/proc/self/status")));
        } catch (IOException | IllegalArgumentException unknown) {
            BitSet some = new BitSet();
            some.set(0, Runtime.getRuntime().availableProcessors());
            return some;
        }
    }

    /** Parses the list of the scheduler, such as {@code 0-3,8}. */
    static BitSet allowed(List<String> status) {
        BitSet allowed = new BitSet();
        for (String line : status) {
            if (line.startsWith(ALLOWED)) {
                for (String range : line.substring(ALLOWED.length()).trim().split(",", -1)) {
                    int dash = range.indexOf('-');
                    int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
                    allowed.set(first, Integer.parseInt(range.substring(dash + 1)) + 1);
                }
            }
        }
        if (allowed.isEmpty()) {
            throw new IllegalArgumentException("no processors");
        }
        return allowed;
    }

    /** Returns the processor time of a container, in processors; very large without a limit. */
    public static int quota() {
        try {
            Path file = Path.of("/sys/fs/cgroup/cpu.max");
            return Files.exists(file) ? quota(Files.readString(file)) : Integer.MAX_VALUE;
        } catch (IOException | IllegalArgumentException unknown) {
            return Integer.MAX_VALUE;
        }
    }

    /** Parses a limit such as {@code 200000 100000}. */
    static int quota(String text) {
        String[] words = text.trim().split(" ", -1);
        return words[0].equals("max")
                ? Integer.MAX_VALUE
                : (int) Math.max(1, Long.parseLong(words[0]) / Long.parseLong(words[1]));
    }
}
