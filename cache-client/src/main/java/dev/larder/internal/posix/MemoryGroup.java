package dev.larder.internal.posix;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * A control group that the memory of this process is charged to, of version 1 or 2; what the process writes to a tmpfs counts.
 * Files are read anew each time. What cannot be read limits nothing.
 *
 * @param root where the files of the machine begin: {@code /}, or a folder with made-up ones
 * @param mountPoint where the hierarchy is mounted, as the machine names it
 * @param folder the group's own folder, as the machine names it; {@code mountPoint} or below
 * @param isVersion2 whether the hierarchy is the unified one
 */
public record MemoryGroup(Path root, Path mountPoint, Path folder, boolean isVersion2) {
    private static final Path MACHINE = Path.of("/");
    private static final int LONGEST_TEXT = 1 << 20;

    /** Version 1 writes "no limit" as a huge number, which differs between kernels. */
    private static final long UNLIMITED = 1L << 60;

    /**
     * A limit.
     *
     * @param file where it stands, as the machine names it
     */
    public record Limit(Path file, long bytes) {}

    /** A hierarchy of groups: which of its groups is mounted, and where. */
    private record Hierarchy(Path mountedGroup, Path mountPoint, boolean isVersion2) {}

    /** Finds the groups of this process, the deepest of each hierarchy: two where the machine has both versions, none without any. */
    public static List<MemoryGroup> own() {
        return own(MACHINE);
    }

    /** Finds the groups as the files of a machine that begin at a folder have it. */
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
     * Returns the least that any group of this process, or any above it, leaves to be charged; empty where none has a limit.
     *
     * @param keptBytes what does not count as free, as somebody else needs it; at most half of a limit
     */
    public static OptionalLong leastFreeBytes(Path root, long keptBytes) {
        return own(root).stream()
                .flatMap(group -> group.andAbove().stream())
                .map(group -> group.freeBytes(keptBytes))
                .flatMapToLong(OptionalLong::stream)
                .min();
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
        if (found.isEmpty()) { // where they usually are
            found.add(new Hierarchy(MACHINE, Path.of("/sys/fs/cgroup"), true));
            found.add(new Hierarchy(MACHINE, Path.of("/sys/fs/cgroup/memory"), false));
        }
        return found;
    }

    private static Path path(String escaped) {
        return Path.of(escaped.replace("\\040", " "));
    }

    /** In a container the group's own folder is often what is mounted, and its path leads nowhere. */
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

    /** Returns this group and those above it, as far as they can be seen: the limits of all of them hold. */
    public List<MemoryGroup> andAbove() {
        List<MemoryGroup> groups = new ArrayList<>();
        for (Path above = folder; above != null && above.startsWith(mountPoint); above = above.getParent()) {
            groups.add(new MemoryGroup(root, mountPoint, above, isVersion2));
        }
        return groups;
    }

    /** Returns the limits that hold here: version 1 also tells the lowest of groups above, which may be out of sight. */
    public List<Limit> limits() {
        List<Limit> limits = new ArrayList<>();
        if (isVersion2) {
            addLimit(limits, "memory.max", number("memory.max"));
            addLimit(limits, "memory.high", number("memory.high")); // beyond it the kernel makes writers crawl
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
     * Returns how much more can be charged to the group; empty where it has no limit. Pages of files on disks count as free, as the
     * kernel drops them first.
     */
    private OptionalLong freeBytes(long keptBytes) {
        OptionalLong limit = limits().stream().mapToLong(Limit::bytes).min();
        OptionalLong used = number(isVersion2 ? "memory.current" : "memory.usage_in_bytes");
        if (limit.isEmpty() || used.isEmpty()) {
            return OptionalLong.empty();
        }
        String prefix = isVersion2 ? "" : "total_"; // else version 1 leaves out the groups below
        long droppable = counter("memory.stat", prefix + "inactive_file").orElse(0)
                + counter("memory.stat", prefix + "active_file").orElse(0);
        long kept = Math.min(keptBytes, limit.getAsLong() / 2);
        return OptionalLong.of(Math.max(0, limit.getAsLong() - used.getAsLong() + droppable - kept));
    }

    /** Returns how many processes of the group the kernel has killed for want of memory; empty where it does not say. */
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
        } catch (NumberFormatException noNumber) { // such as "max", or one that is larger than any memory
            return OptionalLong.empty();
        }
    }

    /** Numbers of the kernel come in one read or not at all, so files are read at one go. */
    private static List<String> lines(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(LONGEST_TEXT), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (IOException unreadable) {
            return List.of();
        }
    }
}
