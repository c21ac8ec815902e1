package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * Knows how much may be put into a store: the capacity asked for, what the mount has free, and what the cgroup's memory limit
 * leaves (tmpfs pages are charged to it).
 */
final class Space {
    private static final int DEFAULT_PERCENT = 80;
    private static final Path CGROUP = Path.of("/sys/fs/cgroup");
    private static final Path OWN_CGROUP = Path.of("/proc/self/cgroup");

    private final Path root;
    private final long capacityBytes;

    /** Measures the mount under {@code root} once, where no capacity is asked for. */
    Space(Path root, OptionalLong capacityBytes) {
        this.root = root;
        this.capacityBytes = capacityBytes.orElseGet(() -> freeBytes() / 100 * DEFAULT_PERCENT);
    }

    long capacityBytes() {
        return capacityBytes;
    }

    /** Refuses a version that would not fit, before a byte of it is written. */
    void require(long neededBytes, long usedBytes, long leasedBytes) {
        long free = Math.min(capacityBytes - usedBytes, freeBytes());
        if (neededBytes > free) {
            throw notEnough(neededBytes, Math.max(0, free), leasedBytes);
        }
    }

    private LarderException notEnough(long needed, long free, long leased) {
        return Failure.of(ErrorCode.NO_SPACE, "not enough space")
                .with("needed", needed)
                .with("free", free)
                .with("evictable", 0)
                .with("leased", leased)
                .with("pinned", 0)
                .with("unsourced", 0)
                .with("capacity", capacityBytes)
                .remedy("evict datasets, raise --capacity, or use a larger mount");
    }

    /** Tells whether an I/O failure means that the file system has no blocks or no inodes left. */
    static boolean isFull(IOException failure) {
        String message = String.valueOf(failure.getMessage());
        return message.contains("No space left on device") || message.contains("Disk quota exceeded");
    }

    /** Explains an I/O failure of the store itself, not of a source. */
    static LarderException failed(String what, Path path, IOException failure) {
        boolean isFull = isFull(failure);
        return Failure.of(isFull ? ErrorCode.NO_SPACE : ErrorCode.UNEXPECTED, what)
                .with("path", path)
                .with("reason", failure)
                .cause(failure)
                .remedy(isFull ? "evict datasets, or use a larger mount" : "check the store's file system");
    }

    /** Returns what mount and cgroup leave at this moment. */
    long freeBytes() {
        try {
            long mount = Files.getFileStore(root).getUsableSpace();
            return Math.min(mount, cgroupFreeBytes().orElse(Long.MAX_VALUE));
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot tell how much space the store has")
                    .with("store", root)
                    .with("reason", e)
                    .cause(e)
                    .exception();
        }
    }

    /** Reads the limit of this process's control group (version 2); empty where there is none. */
    private static OptionalLong cgroupFreeBytes() {
        try {
            for (String line : Files.readAllLines(OWN_CGROUP)) {
                if (line.startsWith("0::/")) {
                    Path group = CGROUP.resolve(line.substring("0::/".length()));
                    String limit = Files.readString(group.resolve("memory.max")).trim();
                    String used =
                            Files.readString(group.resolve("memory.current")).trim();
                    return limit.equals("max")
                            ? OptionalLong.empty()
                            : OptionalLong.of(Math.max(0, Long.parseLong(limit) - Long.parseLong(used)));
                }
            }
        } catch (IOException | NumberFormatException e) {
            return OptionalLong.empty();
        }
        return OptionalLong.empty();
    }
}
