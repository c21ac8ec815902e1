package dev.larder.internal.posix;

/** The page sizes of the kernel, which also apply to files of a tmpfs. */
public final class PageSize {
    /** The usual page. Addresses of mappings are multiples of it. */
    public static final long BYTES = 4096;

    /** A huge page. */
    public static final long HUGE_BYTES = 2 << 20;

    private PageSize() {}
}
