package dev.larder.internal.posix;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The kernel's counts of one thread, as of the last {@link #update} by that thread. */
public final class ThreadUsage {
    private static final int LENGTH = 144; // struct rusage
    private static final int MAJOR_FAULTS_OFFSET = 72;
    private static final int BLOCKS_READ_OFFSET = 88;
    private static final int BLOCK_BYTES = 512;
    private static final int WAITS_OFFSET = 128;

    private final byte[] usage = new byte[LENGTH];
    private final ByteBuffer fields = ByteBuffer.wrap(usage).order(ByteOrder.nativeOrder());

    /** Reads the counts of the calling thread. Takes less than a microsecond, and allocates nothing. */
    public void update() {
        LibC.getrusage(LibC.RUSAGE_THREAD, usage);
    }

    /** Returns the number of accesses to memory that had to wait for a disk. */
    public long majorFaults() {
        return fields.getLong(MAJOR_FAULTS_OFFSET);
    }

    /** Returns the bytes that were requested from disks; 0 if the kernel or the file system does not count them. */
    public long diskBytes() {
        return fields.getLong(BLOCKS_READ_OFFSET) * BLOCK_BYTES;
    }

    /** Returns how often the thread gave up its processor to wait. */
    public long waits() {
        return fields.getLong(WAITS_OFFSET);
    }
}
