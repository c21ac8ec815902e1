package dev.larder.internal.posix;

/**
 * Maps files at addresses that let the kernel use one page table entry for each huge page. That needs an address congruent to
 * the file offset modulo 2 MiB, which the kernel itself chooses only on mounts that allow huge pages.
 */
final class AlignedMapping {
    private AlignedMapping() {}

    /**
     * Maps a range of a file, shared. The offset is a multiple of {@link PageSize#HUGE_BYTES}. Returns the address, or
     * {@code MAP_FAILED} with the reason in {@code errno}.
     */
    static long map(int descriptor, long offset, long byteSize, int protection) {
        if (byteSize >= PageSize.HUGE_BYTES && byteSize <= Long.MAX_VALUE - 2 * PageSize.HUGE_BYTES) {
            long address = mapAligned(descriptor, offset, byteSize, protection);
            if (address != LibC.MAP_FAILED) {
                return address;
            }
        }
        return LibC.mmap(
                0, byteSize, protection, LibC.MAP_SHARED, descriptor, offset); // fallback: correct, but slower to read
    }

    /**
     * Reserves addresses for the file plus one huge page, maps the file at the first aligned address, and unmaps the rest on
     * both sides.
     */
    private static long mapAligned(int descriptor, long offset, long byteSize, int protection) {
        long length = roundUp(byteSize, PageSize.BYTES);
        long reserved = length + PageSize.HUGE_BYTES;
        int flags = LibC.MAP_PRIVATE | LibC.MAP_ANONYMOUS | LibC.MAP_NORESERVE;
        long start = LibC.mmap(0, reserved, LibC.PROT_NONE, flags, -1, 0);
        if (start == LibC.MAP_FAILED) {
            return LibC.MAP_FAILED;
        }
        long aligned = roundUp(start, PageSize.HUGE_BYTES);
        long address = LibC.mmap(aligned, byteSize, protection, LibC.MAP_SHARED | LibC.MAP_FIXED, descriptor, offset);
        if (address == LibC.MAP_FAILED) {
            LibC.munmap(start, reserved);
            return LibC.MAP_FAILED;
        }
        unmap(start, aligned);
        unmap(aligned + length, start + reserved);
        return address;
    }

    private static long roundUp(long bytes, long unit) {
        return (bytes + unit - 1) & -unit;
    }

    /** Unmaps a range. If the kernel refuses because there are too many mappings, only addresses without memory remain. */
    private static void unmap(long start, long end) {
        if (start < end) {
            LibC.munmap(start, end - start);
        }
    }
}
