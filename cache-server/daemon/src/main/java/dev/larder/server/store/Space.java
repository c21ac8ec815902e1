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
    private long reservedBytes;

    /**
     * Measures the mount under {@code root} once, where no capacity is asked for.
     *
     * @param heldBytes what the store holds already, which counts as free for this
     */
    Space(Path root, OptionalLong capacityBytes, long heldBytes) {
        this.root = root;
        this.capacityBytes = capacityBytes.orElseGet(() -> (freeBytes() + heldBytes) / 100 * DEFAULT_PERCENT);
    }

    long capacityBytes() {
        return capacityBytes;
    }

    /** Returns how much may still be put in where {@code usedBytes} are in. */
    synchronized long freeBytes(long usedBytes) {
        return Math.max(0, Math.min(capacityBytes - usedBytes - reservedBytes, freeBytes()));
    }

    /**
     * Sets space aside for a load; false, with nothing done, where it would not fit beside all others.
     *
     * @param writtenBytes how many of these lie on the mount already, so that it has less free by as much
     */
    synchronized boolean tryReserve(long neededBytes, long writtenBytes, long usedBytes) {
        if (missingBytes(neededBytes, writtenBytes, usedBytes) > 0) {
            return false;
        }
        reservedBytes += neededBytes;
        return true;
    }

    /** Returns how much would have to leave before {@link #tryReserve} would set that much aside. */
    synchronized long missingBytes(long neededBytes, long writtenBytes, long usedBytes) {
        if (neededBytes == 0) {
            return 0; // also where the store is overfull
        }
        long ofCapacity = neededBytes - (capacityBytes - usedBytes - reservedBytes);
        long ofMount = neededBytes - writtenBytes - freeBytes();
        return Math.max(0, Math.max(ofCapacity, ofMount));
    }

    /** Gives back what was set aside: the load has ended, and what it published counts as used. */
    synchronized void release(long bytes) {
        reservedBytes -= bytes;
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

    /** Reads the tightest limit of this process's control group and those above it (version 2); empty where there is none. */
    private static OptionalLong cgroupFreeBytes() {
        OptionalLong tightest = OptionalLong.empty();
        try {
            for (String line : Files.readAllLines(OWN_CGROUP)) {
                if (line.startsWith("0::/")) {
                    Path group = CGROUP.resolve(line.substring("0::/".length())).normalize();
                    for (; group != null && group.startsWith(CGROUP); group = group.getParent()) {
                        OptionalLong free = freeBytesOf(group);
                        if (free.isPresent() && free.getAsLong() < tightest.orElse(Long.MAX_VALUE)) {
                            tightest = free;
                        }
                    }
                }
            }
        } catch (IOException | NumberFormatException e) {
            return tightest; // what cannot be read limits nothing here
        }
        return tightest;
    }

    /** Returns limit less use, where pages of files on disks count as free: the kernel drops them first. */
    private static OptionalLong freeBytesOf(Path group) throws IOException {
        Path max = group.resolve("memory.max");
        if (!Files.exists(max)) {
            return OptionalLong.empty();
        }
        String limit = Files.readString(max).trim();
        if (limit.equals("max")) {
            return OptionalLong.empty();
        }
        long used =
                Long.parseLong(Files.readString(group.resolve("memory.current")).trim());
        long droppable = 0;
        for (String line : Files.readAllLines(group.resolve("memory.stat"))) {
            if (line.startsWith("inactive_file ") || line.startsWith("active_file ")) {
                droppable += Long.parseLong(line.substring(line.indexOf(' ') + 1));
            }
        }
        return OptionalLong.of(Math.max(0, Long.parseLong(limit) - used + droppable));
    }
}
