package dev.larder.internal.posix;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/**
 * A control group, version 1 or 2, that this process's memory is charged to, including its writes to a tmpfs. Reads the files
 * at each call. A value that cannot be read counts as no limit.
 *
 * @param root the root of the machine's files: {@code /}, or a folder with test files
 * @param mountPoint the mount point of the hierarchy
 * @param folder the group's own folder: {@code mountPoint} or below
 * @param isVersion2 whether this is the unified hierarchy
 */
public record MemoryGroup(Path root, Path mountPoint, Path folder, boolean isVersion2) {
    private static final Path MACHINE = Path.of("/");
    private static final int LONGEST_TEXT = 1 << 20;

    private static final Pattern TOTAL = Pattern.compile("MemTotal: +(?<kilobytes>\\d+) kB");

    /** Version 1 writes "no limit" as a huge number, which differs between kernels. */
    private static final long UNLIMITED = 1L << 60;

    /**
     * A limit.
     *
     * @param file the file that contains it
     */
    public record Limit(Path file, long bytes) {}

    /** A mounted hierarchy of groups: the group at the mount point, and the mount point. */
    private record Hierarchy(Path mountedGroup, Path mountPoint, boolean isVersion2) {}

    /**
     * Finds the groups of this process, the deepest of each hierarchy. There are two if the machine has both versions, and none
     * without control groups.
     */
    public static List<MemoryGroup> own() {
        return own(MACHINE);
    }

    /** Finds the groups of this process from machine files below a root folder. */
    public static List<MemoryGroup> own(Path root) {
        List<Hierarchy> hierarchies = hierarchies(root);
        List<MemoryGroup> groups = new ArrayList<>();
        for (String line : lines(root.resolve("proc/self/cgroup"))) {
            String[] fields = line.split(":", 3);
            boolean isVersion2 = line.startsWith("0::");
            if (fields.length == 3
                    && (isVersion2 || List.of(fields[1].split(",", -1)).contains("memory"))) {
                hierarchies.stream()
                        .filter(hierarchy -> hierarchy.isVersion2 == isVersion2)
                        .map(hierarchy -> in(hierarchy, root, fields[2]))
                        .findFirst()
                        .ifPresent(groups::add);
            }
        }
        return groups;
    }

    /**
     * Returns the smallest free memory of this process's groups and all groups above them, or empty if none has a limit.
     *
     * @param reservedBytes bytes that do not count as free because other programs need them; at most half of a limit
     */
    public static OptionalLong leastFreeBytes(Path root, long reservedBytes) {
        return own(root).stream()
                .flatMap(group -> group.andAbove().stream())
                .map(group -> group.freeBytes(reservedBytes))
                .flatMapToLong(OptionalLong::stream)
                .min();
    }

    /** Returns how much memory this process may use: that of the machine, or the lowest limit of its groups; 0 if neither can be read. */
    public static long memoryBytes() {
        return memoryBytes(MACHINE);
    }

    /** Returns how much memory a process may use by machine files below a root folder. */
    static long memoryBytes(Path root) {
        LongStream machine = lines(root.resolve("proc/meminfo")).stream()
                .map(TOTAL::matcher)
                .filter(Matcher::matches)
                .mapToLong(line -> Long.parseLong(line.group("kilobytes")) << 10);
        LongStream limits = own(root).stream()
                .flatMap(group -> group.andAbove().stream())
                .flatMap(group -> group.limits().stream())
                .mapToLong(Limit::bytes);
        return LongStream.concat(machine, limits).min().orElse(0);
    }

    private static List<Hierarchy> hierarchies(Path root) {
        List<Hierarchy> found = new ArrayList<>();
        for (String line : lines(root.resolve("proc/self/mountinfo"))) {
            String[] halves = line.split(" - ", 2);
            String[] mount = halves[0].split(" ", -1);
            String[] type = halves[halves.length - 1].split(" ", -1);
            boolean isVersion2 = type[0].equals("cgroup2");
            boolean isOfMemory = type[0].equals("cgroup")
                    && List.of(type[type.length - 1].split(",", -1)).contains("memory");
            if (mount.length > 4 && (isVersion2 || isOfMemory)) {
                found.add(new Hierarchy(path(mount[3]), path(mount[4]), isVersion2));
            }
        }
        if (found.isEmpty()) { // the usual places
            found.add(new Hierarchy(MACHINE, Path.of("/sys/fs/cgroup"), true));
            found.add(new Hierarchy(MACHINE, Path.of("/sys/fs/cgroup/memory"), false));
        }
        return found;
    }

    private static Path path(String escaped) {
        return Path.of(escaped.replace("\\040", " "));
    }

    /** Returns the group with a name. In a container the mount often shows the group's own folder, and its path does not exist. */
    private static MemoryGroup in(Hierarchy hierarchy, Path root, String group) {
        Path name = Path.of(group).normalize();
        Path folder = name.startsWith(hierarchy.mountedGroup)
                ? hierarchy.mountPoint.resolve(
                        hierarchy.mountedGroup.relativize(name).toString())
                : hierarchy.mountPoint;
        boolean isSeen = Files.isDirectory(root.resolve(MACHINE.relativize(folder)));
        return new MemoryGroup(
                root, hierarchy.mountPoint, isSeen ? folder : hierarchy.mountPoint, hierarchy.isVersion2);
    }

    /** Returns this group and the visible ones above it. The limits of all of them apply. */
    public List<MemoryGroup> andAbove() {
        List<MemoryGroup> groups = new ArrayList<>();
        for (Path above = folder; above != null && above.startsWith(mountPoint); above = above.getParent()) {
            groups.add(new MemoryGroup(root, mountPoint, above, isVersion2));
        }
        return groups;
    }

    /** Returns the limits of this group. Version 1 also reports the lowest limit above it, which may be invisible here. */
    public List<Limit> limits() {
        List<Limit> limits = new ArrayList<>();
        if (isVersion2) {
            addLimit(limits, "memory.max", number("memory.max"));
            addLimit(limits, "memory.high", number("memory.high")); // above it the kernel slows writers down severely
        } else {
            addLimit(limits, "memory.limit_in_bytes", number("memory.limit_in_bytes"));
            addLimit(limits, "memory.stat", counter("memory.stat", "hierarchical_memory_limit"));
        }
        return limits;
    }

    private void addLimit(List<Limit> limits, String file, OptionalLong bytes) {
        if (bytes.isPresent() && bytes.getAsLong() < UNLIMITED) {
            limits.add(new Limit(folder.resolve(file), bytes.getAsLong()));
        }
    }

    /**
     * Returns the number of bytes that can still be charged to the group, or empty if it has no limit. Cached pages of disk
     * files count as free, because the kernel drops them first.
     */
    private OptionalLong freeBytes(long reservedBytes) {
        OptionalLong limit = limits().stream().mapToLong(Limit::bytes).min();
        OptionalLong used = number(isVersion2 ? "memory.current" : "memory.usage_in_bytes");
        if (limit.isEmpty() || used.isEmpty()) {
            return OptionalLong.empty();
        }
        String prefix = isVersion2 ? "" : "total_"; // version 1 excludes the groups below without it
        long droppable = counter("memory.stat", prefix + "inactive_file").orElse(0)
                + counter("memory.stat", prefix + "active_file").orElse(0);
        long reserved = Math.min(reservedBytes, limit.getAsLong() / 2);
        return OptionalLong.of(Math.max(0, limit.getAsLong() - used.getAsLong() + droppable - reserved));
    }

    /** Returns the number of processes of the group that the kernel has killed for lack of memory, or empty if it does not report that. */
    public OptionalLong kills() {
        return counter(isVersion2 ? "memory.events" : "memory.oom_control", "oom_kill");
    }

    private OptionalLong number(String file) {
        List<String> lines = lines(at(file));
        return lines.isEmpty() ? OptionalLong.empty() : parsed(lines.get(0));
    }

    /** Reads a line such as {@code oom_kill 3}. */
    private OptionalLong counter(String file, String name) {
        return lines(at(file)).stream()
                .filter(line -> line.startsWith(name + " "))
                .findFirst()
                .map(line -> parsed(line.substring(name.length() + 1)))
                .orElse(OptionalLong.empty());
    }

    private Path at(String file) {
        return root.resolve(MACHINE.relativize(folder.resolve(file)));
    }

    private static OptionalLong parsed(String text) {
        try {
            return OptionalLong.of(Long.parseLong(text.strip()));
        } catch (NumberFormatException noNumber) { // such as "max", or larger than a long
            return OptionalLong.empty();
        }
    }

    /** Reads a file in one go, because the kernel returns its values in one read or not at all. */
    private static List<String> lines(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            String text = new String(in.readNBytes(LONGEST_TEXT), StandardCharsets.UTF_8);
            return List.of(text.split("\n", -1)); // a name may contain other ends of lines
        } catch (IOException unreadable) {
            return List.of();
        }
    }
}
