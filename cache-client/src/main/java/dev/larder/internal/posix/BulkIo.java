package dev.larder.internal.posix;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * Moves many bytes, or many small files, with few calls and no garbage: what filling a store asks of the operating system.
 *
 * <p>Addresses, positions and lengths are bytes. A failing call throws a {@link dev.larder.error.LarderException} that names
 * it; nothing here raises a signal. Thread-safe.
 */
public interface BulkIo {
    /** Returns the one implementation; fails as {@link Posix#system} does. */
    static BulkIo system() {
        return JnaBulkIo.instance();
    }

    /**
     * Opens any file for reading, through links, and returns at once whatever it is: a pipe without a writer too. The caller
     * looks at its {@link FileStatus} before reading, and closes the descriptor.
     */
    int openWithoutWaiting(Path path);

    /** Reads from a position to an address; returns how many bytes, 0 at the end of the file. */
    long read(int descriptor, long position, long address, long byteSize);

    /** Reads into a direct buffer, whatever its own position and limit; returns how many bytes, 0 at the end of the file. */
    long read(int descriptor, long position, ByteBuffer direct, int offset, int byteSize);

    /**
     * Fills all pieces of a list from a position on, which it can do once; returns how many bytes, less than the pieces have where the
     * file ends before.
     */
    long read(int descriptor, long position, ScatterList pieces);

    /** Writes all bytes from an address to a position. */
    void write(int descriptor, long position, long address, long byteSize);

    /** Writes bytes of a direct buffer to a position, whatever its own position and limit. */
    void write(int descriptor, long position, ByteBuffer direct, int offset, int byteSize);

    /** Sets the length of a file; what that adds is a hole. */
    void resize(int descriptor, long byteSize);

    /** Returns once a file is on its disk, as far as the disk tells the truth. */
    void sync(int descriptor);

    /** Returns once everything in the file system that a file lies on is on its disk: data, names and folders. */
    void syncFileSystem(int descriptor);

    /**
     * Maps a stretch of a file for reading and writing, shared; it begins at a multiple of {@link PageSize#HUGE_BYTES}. Touching a page
     * that was not populated may kill the process. The caller ends it with {@link Posix#unmap}.
     */
    long mapWritable(int descriptor, long offset, long byteSize);

    /** Asks for small pages where a mapping would get huge ones; false where the kernel refuses. */
    boolean adviseSmallPages(long address, long byteSize);

    /** Tells whether the kernel has {@link #populate} (Linux 5.14 and later). */
    boolean canPopulate();

    /**
     * Gives every page of a stretch of a writable mapping its memory, so that touching it cannot fail any more. Fails with
     * {@link dev.larder.error.ErrorCode#NO_SPACE} where the file system is full. The address is a multiple of the page size.
     */
    void populate(long address, long byteSize);

    /**
     * Puts each 2 MiB piece of a mapping of a tmpfs file into one huge page, whatever the mount's {@code huge=} word says (Linux 6.1 and
     * later). Of a piece at least one page has memory; the rest of it is zeros then, and has memory as well. What others read or write
     * there meanwhile is not disturbed. Address and length are multiples of {@link PageSize#HUGE_BYTES}.
     *
     * @return true where all pieces are huge now, those that were before included; false where the kernel refuses one: it has no huge
     *     page left, the file system or the control group is full, the machine denies them to shared memory, or a page is in use
     */
    boolean collapse(long address, long byteSize);

    /**
     * Gives a 2 MiB piece of a writable mapping of a tmpfs file its memory as one huge page. Only its first page is populated before: the
     * kernel makes the whole piece from that, so that nothing is allocated and zeroed twice (decision 36).
     *
     * @return false where the kernel gives no huge page: no more than the first page has memory then
     */
    default boolean populateHuge(long address) {
        populate(address, PageSize.BYTES);
        return collapse(address, PageSize.HUGE_BYTES);
    }

    /** Tells whether a stretch of a file, which lies in it, has no memory yet. Moves the descriptor's position. */
    boolean isHole(int descriptor, long offset, long byteSize);

    /**
     * Gives the memory of a stretch of a shared writable mapping back to its file system: it is a hole of zeros from then on. False
     * where the kernel refuses.
     */
    boolean discard(long address, long byteSize);

    /**
     * Returns where the bytes of a direct buffer begin, whatever its position. They go with the buffer: who uses the
     * address keeps the buffer reachable meanwhile ({@link java.lang.ref.Reference#reachabilityFence}).
     */
    long addressOf(ByteBuffer direct);

    /** Spreads what the calling thread allocates from now on over these memory nodes; false where the kernel refuses. */
    boolean interleaveOver(BitSet nodes);
}
