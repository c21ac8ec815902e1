package dev.larder.internal.posix;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reserves memory of files in huge pages, on any tmpfs and without root; see {@link BulkIo#populateHuge}. */
public final class HugePages {
    /** After so many refusals the rest of a stretch is reserved in small pages: asking in vain takes long. */
    public static final int MOST_REFUSALS = 4;

    private static final Path SMAPS = Path.of("/proc/self/smaps");
    private static final Pattern MAPPING = Pattern.compile("[0-9a-f]+-[0-9a-f]+ ");
    private static final Pattern HUGE = Pattern.compile("(?:Shmem|File)PmdMapped: +(?<kilobytes>\\d+) kB");

    private HugePages() {}

    /** Tells whether this machine gives memory files huge pages on request, whatever their mounts say. Tries it. */
    public static boolean areGiven() {
        Posix posix = Posix.system();
        int descriptor = InterProcess.system().makeSealedMemory("larder-probe", PageSize.HUGE_BYTES);
        try {
            long address = posix.mapReadOnly(descriptor, 0, PageSize.HUGE_BYTES);
            try {
                return BulkIo.system().collapse(address, PageSize.HUGE_BYTES);
            } finally {
                posix.unmap(address, PageSize.HUGE_BYTES);
            }
        } finally {
            posix.close(descriptor);
        }
    }

    /**
     * Reserves a stretch of a file, as {@link Posix#reserve} does: the 2 MiB pieces that lie in it whole in huge pages where the kernel
     * gives them, the rest in small ones. The file is as long as the stretch needs already, and the descriptor is open for writing.
     */
    public static void reserve(Posix posix, int descriptor, long offset, long byteSize) {
        BulkIo io = BulkIo.system();
        long first = (offset + PageSize.HUGE_BYTES - 1) & -PageSize.HUGE_BYTES;
        long pieces = (offset + byteSize - first) / PageSize.HUGE_BYTES;
        if (pieces > 0 && io.canPopulate()) {
            populate(posix, io, descriptor, first, pieces);
        }
        posix.reserve(descriptor, offset, byteSize);
    }

    /**
     * Returns how many bytes of the mapping that begins at an address the kernel reads with one entry of its page table for each huge
     * page. Counts what this process has touched since it was mapped.
     */
    public static long mappedBytes(long address) {
        try (Stream<String> lines = Files.lines(SMAPS)) {
            String start = Long.toHexString(address) + "-";
            return lines.dropWhile(line -> !line.startsWith(start))
                    .skip(1)
                    .takeWhile(line -> !MAPPING.matcher(line).lookingAt())
                    .map(HUGE::matcher)
                    .filter(Matcher::matches)
                    .mapToLong(line -> Long.parseLong(line.group("kilobytes")) << 10)
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void populate(Posix posix, BulkIo io, int descriptor, long first, long pieces) {
        long length = pieces * PageSize.HUGE_BYTES;
        long address = io.mapWritable(descriptor, first, length);
        try {
            int refusals = 0;
            for (long at = 0; at < length && refusals < MOST_REFUSALS; at += PageSize.HUGE_BYTES) {
                if (!io.populateHuge(address + at)) {
                    refusals++;
                }
            }
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_SPACE) {
                throw e;
            } // else the reservation that follows says so, with what it needs
        } finally {
            posix.unmap(address, length);
        }
    }
}
