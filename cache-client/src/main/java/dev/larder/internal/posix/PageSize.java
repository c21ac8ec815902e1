package dev.larder.internal.posix;

/** The page sizes of this kernel, which also apply to files of a tmpfs. Alignments of the store's format do not depend on them. */
public final class PageSize {
    /**
     * The page: 4 KiB on most machines, 16 or 64 KiB on some of Arm and POWER. Addresses of mappings are multiples of it. The property lets a
     * test work with the pages of another kernel.
     */
    public static final long BYTES = Long.getLong("larder.page-bytes", RawMemory.pageSize());

    /** The length of a piece of a file: a huge page of a kernel with pages of 4 KiB. */
    public static final long HUGE_BYTES = 2 << 20;

    private static final long ADDRESS_BYTES = Long.BYTES;

    private PageSize() {}

    /** Returns the length of a huge page of this kernel: that of as many pages as one page has room for addresses. */
    public static long hugeBytes() {
        return BYTES * (BYTES / ADDRESS_BYTES);
    }
}
