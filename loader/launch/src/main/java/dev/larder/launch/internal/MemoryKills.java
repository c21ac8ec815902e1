package dev.larder.launch.internal;

import dev.larder.internal.posix.MemoryGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The number of processes that the kernel has killed for lack of memory, in this process's control group and on the machine. Counts before
 * and after the life of a process distinguish such a death from other kills.
 *
 * @param inGroup −1 if it is unknown
 * @param onMachine −1 if it is unknown
 */
public record MemoryKills(long inGroup, long onMachine) {
    private static final Path ROOT = Path.of("/");
    private static final String COUNTER = "oom_kill";
    private static final long UNKNOWN = -1;

    /** Counts now. */
    public static MemoryKills now() {
        return under(ROOT);
    }

    /** Counts by the files of a machine below a folder. */
    static MemoryKills under(Path root) {
        return new MemoryKills(groupCount(root), counter(root.resolve("proc/vmstat")));
    }

    /**
     * Returns the scope that ran out of memory if these counts are higher than earlier ones; else null. The group's count also has its
     * members that were killed when the whole machine was full.
     */
    @Nullable
    String since(MemoryKills before) {
        if (before.inGroup != UNKNOWN && inGroup != UNKNOWN) {
            return inGroup > before.inGroup ? "of its control group" : null;
        }
        return before.onMachine != UNKNOWN && onMachine > before.onMachine
                ? "of the machine, or of a group in it"
                : null;
    }

    /** Returns the number of kills since then, in the scope of {@link #since}. */
    long countSince(MemoryKills before) {
        return before.inGroup != UNKNOWN && inGroup != UNKNOWN
                ? inGroup - before.inGroup
                : onMachine - before.onMachine;
    }

    private static long groupCount(Path root) {
        return MemoryGroup.own(root).stream()
                .map(MemoryGroup::kills)
                .flatMapToLong(OptionalLong::stream)
                .findFirst()
                .orElse(UNKNOWN);
    }

    private static long counter(Path file) {
        for (String line : lines(file)) {
            String[] fields = line.split(" ", 2);
            if (fields.length == 2 && fields[0].equals(COUNTER)) {
                return Long.parseLong(fields[1].strip());
            }
        }
        return UNKNOWN;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException unreadable) {
            return List.of();
        }
    }
}
