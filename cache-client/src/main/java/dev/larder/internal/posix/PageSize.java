package dev.larder.internal.posix;

/** The pages in which the kernel gives memory out, and with it files of a tmpfs. */
public final class PageSize {
    /** The usual page, and what a mapping's addresses are multiples of. */
    public static final long BYTES = 4096;

    /** A huge page. */
    public static final long HUGE_BYTES = 2 << 20;

    private PageSize() {}
}
