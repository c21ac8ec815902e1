package dev.larder.server.store.lock;

import dev.larder.internal.posix.FileStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The {@code flock}s that the kernel listed at one moment, as far as this pid namespace shows their holders. */
final class LockTable {
    private static final Path LOCKS = Path.of("/proc/locks");

    private static final Pattern HELD_FLOCK = Pattern.compile(
            "\\d+:\\s+FLOCK\\s+\\S+\\s+(?<kind>READ|WRITE)\\s+(?<pid>[1-9]\\d*)\\s+(?<major>\\p{XDigit}+):(?<minor>\\p{XDigit}+):(?<inode>\\d+)\\s.*");

    private final Map<Lock, TreeSet<Long>> pids = new HashMap<>();

    /** A kind of lock on a file. */
    private record Lock(boolean isShared, FileNumber file) {
        static Lock of(Matcher line) {
            return new Lock(
                    line.group("kind").equals("READ"),
                    new FileNumber(
                            Integer.parseInt(line.group("major"), 16),
                            Integer.parseInt(line.group("minor"), 16),
                            Long.parseLong(line.group("inode"))));
        }
    }

    private LockTable() {}

    /** Returns a table without locks. */
    static LockTable empty() {
        return new LockTable();
    }

    /** Reads the kernel's table; returns an empty one if it cannot be read. */
    static LockTable read() {
        try (Stream<String> lines = Files.lines(LOCKS)) {
            return of(lines);
        } catch (IOException | UncheckedIOException e) {
            return empty();
        }
    }

    /** Parses lines such as {@code 1: FLOCK ADVISORY READ 4711 00:1a:99 0 EOF}. */
    static LockTable of(Stream<String> lines) {
        LockTable table = new LockTable();
        lines.map(HELD_FLOCK::matcher)
                .filter(Matcher::matches)
                .forEach(line -> table.pids
                        .computeIfAbsent(Lock.of(line), lock -> new TreeSet<>())
                        .add(Long.parseLong(line.group("pid"))));
        return table;
    }

    /** Returns the processes that hold a shared lock on a file, in ascending order. */
    List<Long> readers(FileStatus file) {
        return new ArrayList<>(pids.getOrDefault(new Lock(true, FileNumber.of(file)), new TreeSet<>()));
    }

    /** Returns the process that holds the exclusive lock on a file. */
    OptionalLong owner(FileNumber file) {
        return pids.getOrDefault(new Lock(false, file), new TreeSet<>()).stream()
                .mapToLong(Long::longValue)
                .findFirst();
    }
}
