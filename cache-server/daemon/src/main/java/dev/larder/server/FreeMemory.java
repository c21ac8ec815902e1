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

/** Says whether memory is short: then what can wait leaves it to others. Looks at most ten times a second. For one thread. */
final class FreeMemory {
    private static final Path MACHINE = Path.of("/");
    private static final Pattern LINE = Pattern.compile("(?<name>MemTotal|MemAvailable): +(?<kilobytes>\\d+) kB");

    /** It is short where less than one part in this many is available. */
    private static final int SHORTAGE = 16;

    /** It is short as well where a control group has less than this left. */
    private static final long LEAST_GROUP_BYTES = 64 << 20;

    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Path root;
    private long lookedAtNs = System.nanoTime() - LOOK_NS;
    private boolean isShort;

    FreeMemory() {
        this(MACHINE);
    }

    /** Looks at a machine whose files begin at a folder. */
    FreeMemory(Path root) {
        this.root = root;
    }

    boolean isShort() {
        long now = System.nanoTime();
        if (now - lookedAtNs >= LOOK_NS) {
            lookedAtNs = now;
            isShort = look();
        }
        return isShort;
    }

    private boolean look() {
        Map<String, Long> kilobytes = new HashMap<>();
        try (Stream<String> lines = Files.lines(root.resolve("proc/meminfo"))) {
            lines.map(LINE::matcher)
                    .filter(Matcher::matches)
                    .forEach(line -> kilobytes.put(line.group("name"), Long.valueOf(line.group("kilobytes"))));
        } catch (IOException unreadable) {
            return false; // then nothing says so
        }
        long total = kilobytes.getOrDefault("MemTotal", 0L);
        OptionalLong ofGroups = MemoryGroup.leastFreeBytes(root, 0);
        return kilobytes.getOrDefault("MemAvailable", total) < total / SHORTAGE
                || (ofGroups.isPresent() && ofGroups.getAsLong() < LEAST_GROUP_BYTES);
    }
}
