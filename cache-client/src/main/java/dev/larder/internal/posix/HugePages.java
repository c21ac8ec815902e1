package dev.larder.internal.posix;

import dev.larder.error.LarderException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Reserves memory of files in huge pages, on any tmpfs and without root; see {@link BulkIo#populateHuge}. */
public final class HugePages {
    /** After this many refusals the rest of a range is reserved in small pages, because failing requests are slow. */
    public static final int MOST_REFUSALS = 4;

    private static final Path SMAPS = Path.of("/proc/self/smaps");
    private static final Pattern MAPPING = Pattern.compile("(?<start>[0-9a-f]+)-[0-9a-f]+ ");
    private static final Pattern HUGE = Pattern.compile("(?:Shmem|File)PmdMapped: +(?<kilobytes>\\d+) kB");

    private HugePages() {}

    /** Returns whether this machine provides huge pages for memory files on request, on any mount. Tries it. */
    public static boolean areAvailable() {
        Posix posix = Posix.system();
        int descriptor;
        try {
            descriptor = InterProcess.system().makeMemory("larder-probe", PageSize.HUGE_BYTES);
        } catch (LarderException noRoom) {
            return false;
        }
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
     * Reserves a range of a file, as {@link Posix#reserve} does, in huge pages if the kernel provides them and otherwise in
     * small ones. The range must be a hole inside the file, and the descriptor open for reading and writing. If this fails, the
     * range is a hole again.
     */
    public static void reserve(Posix posix, int descriptor, long offset, long byteSize) {
        BulkIo io = BulkIo.system();
        long first = (offset + PageSize.HUGE_BYTES - 1) & -PageSize.HUGE_BYTES;
        long length = (offset + byteSize - first) & -PageSize.HUGE_BYTES;
        if (length <= 0 || !io.canPopulate()) {
            posix.reserve(descriptor, offset, byteSize);
            return;
        }
        long address;
        try {
            address = io.mapWritable(descriptor, first, length);
        } catch (LarderException noMoreMappings) {
            posix.reserve(descriptor, offset, byteSize);
            return;
        }
        try {
            populate(io, address, length);
            posix.reserve(descriptor, offset, byteSize);
        } catch (LarderException e) {
            io.discard(address, length);
            throw e;
        } finally {
            posix.unmap(address, length);
        }
    }

    private static void populate(BulkIo io, long address, long length) {
        int refusals = 0;
        for (long at = 0; at < length && refusals < MOST_REFUSALS; at += PageSize.HUGE_BYTES) {
            if (!io.populateHuge(address + at)) {
                refusals++;
            }
        }
    }

    /**
     * Allocates the 2 MiB pieces of a file that are holes as huge pages, while others write to it. It keeps their data and
     * skips pieces that have memory. The file has its final length, and the descriptor is open for reading and writing.
     *
     * @param shouldContinue called before each piece
     * @return false if it stopped early: {@code shouldContinue} returned false, the kernel refused several pieces, or there is
     *     no space
     */
    public static boolean prepare(Posix posix, int descriptor, long byteSize, BooleanSupplier shouldContinue) {
        BulkIo io = BulkIo.system();
        long length = byteSize & -PageSize.HUGE_BYTES;
        if (length == 0) {
            return true;
        } else if (!io.canPopulate()) {
            return false;
        }
        try {
            long address = io.mapWritable(descriptor, 0, length);
            try {
                return prepare(io, descriptor, address, length, shouldContinue);
            } finally {
                posix.unmap(address, length);
            }
        } catch (LarderException noRoomOrNoMoreMappings) {
            return false;
        }
    }

    private static boolean prepare(
            BulkIo io, int descriptor, long address, long length, BooleanSupplier shouldContinue) {
        int refusals = 0;
        for (long at = 0; at < length; at += PageSize.HUGE_BYTES) {
            if (!shouldContinue.getAsBoolean()) {
                return false;
            }
            if (io.isHole(descriptor, at, PageSize.HUGE_BYTES) && !io.populateHuge(address + at)) {
                refusals++;
            }
            if (refusals == MOST_REFUSALS) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the number of bytes, in mappings with these start addresses, for which the kernel uses one page table entry per
     * huge page. Counts pages that this process has touched since it mapped them.
     */
    public static long mappedBytes(Collection<Long> addresses) {
        Set<String> starts = addresses.stream().map(Long::toHexString).collect(Collectors.toSet());
        long bytes = 0;
        boolean isSelected = false;
        try (BufferedReader lines = Files.newBufferedReader(SMAPS, StandardCharsets.ISO_8859_1)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher mapping = MAPPING.matcher(line);
                if (mapping.lookingAt()) {
                    isSelected = starts.contains(mapping.group("start"));
                }
                Matcher huge = HUGE.matcher(line);
                if (isSelected && huge.matches()) {
                    bytes += Long.parseLong(huge.group("kilobytes")) << 10;
                }
            }
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
