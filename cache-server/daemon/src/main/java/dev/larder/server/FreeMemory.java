package dev.larder.server;

import dev.larder.internal.posix.MemoryGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Checks whether memory is short, so that background work can yield. Reads the figures at most ten times a second. Not thread-safe. */
final class FreeMemory {
    private static final Path MACHINE = Path.of("/");
    private static final Pattern LINE = Pattern.compile("(?<name>MemTotal|MemAvailable): +(?<kilobytes>\\d+) kB");

    /** Memory is short if less than one part in this many is available. */
    private static final int SHORTAGE = 16;

    /** Memory is also short if a cgroup has less than this left. */
    private static final long LEAST_GROUP_BYTES = 64 << 20;

    private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Path root;
    private long readAtNs = System.nanoTime() - PERIOD_NS;
    private boolean isShort;

    FreeMemory() {
        this(MACHINE);
    }

    /** Reads the figures of a machine from the files below a folder. */
    FreeMemory(Path root) {
        this.root = root;
    }

    boolean isShort() {
        long now = System.nanoTime();
        if (now - readAtNs >= PERIOD_NS) {
            readAtNs = now;
            isShort = read();
        }
        return isShort;
    }

    private boolean read() {
        Map<String, Long> kilobytes = new HashMap<>();
        try (Stream<String> lines = Files.lines(root.resolve("proc/meminfo"))) {
            lines.map(LINE::matcher)
                    .filter(Matcher::matches)
                    .forEach(line -> kilobytes.put(line.group("name"), Long.valueOf(line.group("kilobytes"))));
        } catch (IOException unreadable) {
            return false; // unknown counts as not short
        }
        long total = kilobytes.getOrDefault("MemTotal", 0L);
        OptionalLong ofGroups = MemoryGroup.leastFreeBytes(root, 0);
        return kilobytes.getOrDefault("MemAvailable", total) < total / SHORTAGE
                || (ofGroups.isPresent() && ofGroups.getAsLong() < LEAST_GROUP_BYTES);
    }
}
