package dev.larder.distributed.internal;

/** The division of spans into chunks that fit a slot, and of each chunk into a part for each rank. */
public final class SpanChunks {
    /** The alignment of chunks and parts: a cache line, and a multiple of every element. */
    public static final int ALIGNMENT = 64;

    private SpanChunks() {}

    /** Returns the number of chunks of a length. */
    public static long count(long byteSize, long chunkByteSize) {
        return (byteSize + chunkByteSize - 1) / chunkByteSize;
    }

    /** Returns the start of the part of a rank; that of the rank after the last is the end. */
    public static long partStart(int rank, int worldSize, long byteSize) {
        long share = (byteSize + worldSize - 1) / worldSize;
        long aligned = (share + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        return Math.min(byteSize, (long) rank * aligned);
    }

    /** Returns the most bytes of a rank if a slot has a share for each rank. */
    public static long shareOf(long chunkByteSize, int worldSize) {
        return chunkByteSize / worldSize / ALIGNMENT * ALIGNMENT;
    }
}
