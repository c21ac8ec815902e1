package dev.larder.internal.posix;

/**
 * Maps files so that the kernel can use a single entry of its page table for each huge page of them. It can only where address and
 * offset in the file are congruent modulo 2 MiB, and chooses such an address by itself only on mounts that allow huge pages.
 */
final class AlignedMapping {
    private AlignedMapping() {}

    /**
     * Maps a stretch of a file, shared; it begins at a multiple of {@link PageSize#HUGE_BYTES}. Returns the address, or
     * {@code MAP_FAILED} with the reason in {@code errno}.
     */
    static long map(int descriptor, long offset, long byteSize, int protection) {
        if (byteSize >= PageSize.HUGE_BYTES && byteSize <= Long.MAX_VALUE - 2 * PageSize.HUGE_BYTES) {
            long address = mapAligned(descriptor, offset, byteSize, protection);
            if (address != LibC.MAP_FAILED) {
                return address;
            }
        }
        return LibC.mmap(0, byteSize, protection, LibC.MAP_SHARED, descriptor, offset); // slower to read, but as good
    }

    /** Reserves addresses for the file and a piece more, maps it at the first aligned one, and gives back what is left on both sides. */
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

    /** Where the kernel refuses, for want of mappings, a reservation stays: addresses without memory. */
    private static void unmap(long start, long end) {
        if (start < end) {
            LibC.munmap(start, end - start);
        }
    }
}
