package dev.larder.distributed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Counts the processors that the ranks of a machine have together. What the JVM says is the share of one rank where a launcher has
 * divided them.
 */
final class UsableCores {
    private static final String ALLOWED = "Cpus_allowed_list:";

    private UsableCores() {}

    static int count() {
        try {
            return Math.min(allowed(Files.readAllLines(Path.of("/proc/self/status"))), quota());
        } catch (IOException | IllegalArgumentException unknown) {
            return Runtime.getRuntime().availableProcessors();
        }
    }

    /** Reads what the scheduler lets this process use, such as {@code 0-3,8}. */
    static int allowed(List<String> status) {
        int count = 0;
        for (String line : status) {
            if (line.startsWith(ALLOWED)) {
                for (String range : line.substring(ALLOWED.length()).trim().split(",", -1)) {
                    int dash = range.indexOf('-');
                    int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
                    count += Integer.parseInt(range.substring(dash + 1)) - first + 1;
                }
            }
        }
        if (count <= 0) {
            throw new IllegalArgumentException("no processors");
        }
        return count;
    }

    /** Reads how much of them a container may use, such as {@code 200000 100000}. */
    private static int quota() throws IOException {
        Path file = Path.of("/sys/fs/cgroup/cpu.max");
        if (!Files.exists(file)) {
            return Integer.MAX_VALUE;
        }
        String[] words = Files.readString(file).trim().split(" ", -1);
        return words[0].equals("max")
                ? Integer.MAX_VALUE
                : (int) Math.max(1, Long.parseLong(words[0]) / Long.parseLong(words[1]));
    }
}
