package dev.larder.server.store.space;

import dev.larder.internal.posix.PageSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The file system that holds a store.
 *
 * @param point its mount point
 * @param type such as {@code tmpfs}
 * @param options as the kernel lists them
 */
public record Mount(Path point, String type, String options) {
    private static final Path MOUNTS = Path.of("/proc/self/mounts");
    private static final Pattern LINE = Pattern.compile("\\S+ (?<point>\\S+) (?<type>\\S+) (?<options>\\S+) .*");
    private static final Pattern HUGE = Pattern.compile("(?:^|.*,)huge=(?<word>[a-z_]+)(?:,.*|$)");
    private static final String NO_HUGE_PAGES = "never";

    /** Finds the mount of a folder: the deepest one above it, and the last one if several cover each other. */
    public static Optional<Mount> of(Path folder) {
        try (Stream<String> lines = Files.lines(MOUNTS)) {
            return find(folder.toAbsolutePath(), lines);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Finds the mount of a folder in the lines of a mount table. */
    public static Optional<Mount> find(Path folder, Stream<String> lines) {
        return lines.map(LINE::matcher)
                .filter(Matcher::matches)
                .map(line -> new Mount(
                        Path.of(line.group("point").replace("\\040", " ")), line.group("type"), line.group("options")))
                .filter(mount -> folder.startsWith(mount.point))
                .reduce((best, next) -> next.point.getNameCount() >= best.point.getNameCount() ? next : best);
    }

    /** Returns whether it is mounted read-only. */
    public boolean isReadOnly() {
        return List.of(options.split(",", -1)).contains("ro");
    }

    /** Returns whether all its files are lost when the machine stops. */
    public boolean isVolatile() {
        return type.equals("tmpfs") || type.equals("ramfs");
    }

    /** Returns the {@code huge=} option of a tmpfs, or {@code never} if there is none. */
    public String hugePages() {
        Matcher word = HUGE.matcher(options);
        return word.matches() ? word.group("word") : NO_HUGE_PAGES;
    }

    /** Returns the space that the shortest file occupies, in bytes. */
    public long fileUnitBytes() {
        return isTmpfs() && hugePages().equals("always") ? PageSize.hugeBytes() : PageSize.BYTES;
    }

    /**
     * Returns the space of the index and manifest of a version that counts as used, in bytes; 0 on small pages, because it is negligible.
     */
    public static long manifestBytes(Path folder) {
        long unit = of(folder).map(Mount::fileUnitBytes).orElse(PageSize.BYTES);
        return unit == PageSize.BYTES ? 0 : 2 * unit;
    }

    /** Returns whether it is a tmpfs. */
    public boolean isTmpfs() {
        return type.equals("tmpfs");
    }

    /** Returns whether its files get huge pages, by default or on advice. */
    public boolean hasHugePages() {
        return isTmpfs() && !hugePages().equals(NO_HUGE_PAGES);
    }
}
