package dev.larder.internal.posix;

import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Reads and writes many bytes or many small files with few calls and no garbage, to fill a store.
 *
 * <p>Addresses, positions and lengths are in bytes. A failing call throws a {@link dev.larder.error.LarderException} that names it.
 * No call raises a signal. Thread-safe.
 */
public interface BulkIo {
    /** Returns the only implementation. Fails as {@link Posix#system} does. */
    static BulkIo system() {
        return JnaBulkIo.instance();
    }

    /**
     * Opens any file for reading, following links, and never blocks, not even for a pipe without a writer. The caller checks
     * its {@link FileStatus} before it reads, and closes the descriptor.
     */
    int openWithoutWaiting(Path path);

    /** Reads from a position to an address. Returns the number of bytes, or 0 at the end of the file. */
    long read(int descriptor, long position, long address, long byteSize);

    /** Reads into a direct buffer, ignoring its position and limit. Returns the number of bytes, or 0 at the end of the file. */
    long read(int descriptor, long position, ByteBuffer direct, int offset, int byteSize);

    /**
     * Fills all pieces of a list from a position on. Each list can be filled once. Returns the number of bytes, which is
     * smaller if the file ends early.
     */
    long read(int descriptor, long position, ScatterList pieces);

    /** Writes all bytes from an address to a position. */
    void write(int descriptor, long position, long address, long byteSize);

    /** Writes bytes of a direct buffer to a position, ignoring its position and limit. */
    void write(int descriptor, long position, ByteBuffer direct, int offset, int byteSize);

    /** Sets the length of a file. Added bytes are a hole. */
    void resize(int descriptor, long byteSize);

    /** Waits until a file is on its disk, as far as the disk reports it. */
    void sync(int descriptor);

    /** Waits until all data, names and folders of the file system of this file are on its disk. */
    void syncFileSystem(int descriptor);

    /**
     * Maps a range of a file for reading and writing, shared. The offset is a multiple of {@link PageSize#HUGE_BYTES}. Touching
     * a page that was not populated may kill the process. The caller unmaps with {@link Posix#unmap}.
     */
    long mapWritable(int descriptor, long offset, long byteSize);

    /** Advises the kernel to use small pages for a mapping. Returns false if the kernel refuses. */
    boolean adviseSmallPages(long address, long byteSize);

    /** Returns whether the kernel has {@link #populate} (Linux 5.14 and later). */
    boolean canPopulate();

    /**
     * Allocates every page of a range of a writable mapping, so that later accesses cannot fail. Fails with
     * {@link dev.larder.error.ErrorCode#NO_SPACE} if the file system is full. The address is a multiple of the page size.
     */
    void populate(long address, long byteSize);

    /**
     * Converts each 2 MiB piece of a mapping of a tmpfs file to one huge page, even if the mount's {@code huge=} option forbids
     * it (Linux 6.1 and later). At least one page of each piece must have memory; the rest becomes zeros. Concurrent reads and
     * writes are safe. Address and length are multiples of {@link PageSize#HUGE_BYTES}.
     *
     * @return true if all pieces are huge pages now; false if the kernel refuses one, because there is no huge page left, the
     *     file system or the control group is full, the machine denies huge pages to shared memory, or a page is in use
     */
    boolean collapse(long address, long byteSize);

    /**
     * Allocates a 2 MiB piece of a writable mapping of a tmpfs file as one huge page. Only one of its pages is populated before,
     * so that the kernel does not allocate and zero the memory twice (decision 36).
     *
     * @return false if the kernel does not provide a huge page; only that page has memory then
     */
    default boolean populateHuge(long address) {
        populate(address + firstPage(address), PageSize.BYTES);
        return collapse(address, PageSize.HUGE_BYTES);
    }

    /**
     * Returns the offset in a piece of the page to populate first. The kernel makes the piece huge on the node of that page, and interleaves
     * pages by their number in the file: if each piece began with its first page, two or four nodes would never take turns. The number of
     * this page, modulo {@value #NODES_IN_TURN} and so modulo most numbers of nodes, is that of its piece.
     */
    static long firstPage(long address) {
        long piece = address / PageSize.HUGE_BYTES;
        long pages = PageSize.HUGE_BYTES / PageSize.BYTES;
        return Math.floorMod(piece * (1 - pages), Math.min(NODES_IN_TURN, pages)) * PageSize.BYTES;
    }

    /** Less than the pages of a piece, and a multiple of 1 to 6, 8, 10, 12, 15, 16, 20, 24, 30 and 32. */
    long NODES_IN_TURN = 480;

    /** Returns whether a range inside a file has no memory yet. Moves the descriptor's position. */
    boolean isHole(int descriptor, long offset, long byteSize);

    /** Frees the memory of a range of a shared writable mapping; the range becomes a hole of zeros. Returns false if the kernel refuses. */
    boolean discard(long address, long byteSize);

    /**
     * Returns the address of a direct buffer's first byte, ignoring its position. The caller keeps the buffer reachable while
     * it uses the address ({@link java.lang.ref.Reference#reachabilityFence}).
     */
    long addressOf(ByteBuffer direct);

    /** Returns the policy for new pages of the calling thread; the default if the kernel has none. */
    MemoryPolicy memoryPolicy();

    /** Changes the policy for new pages of the calling thread, and of threads and processes that it starts. Returns false if the kernel refuses. */
    boolean setMemoryPolicy(MemoryPolicy policy);
}
