package dev.larder.distributed.internal;

/** How spans are cut: into chunks that fit a slot, and each chunk into one part for each rank. */
public final class SpanChunks {
    /** Where chunks and parts begin: a cache line, and a multiple of every element. */
    public static final int ALIGNMENT = 64;

    private SpanChunks() {}

    /** How many chunks there are of a length. */
    public static long count(long byteSize, long chunkByteSize) {
        return (byteSize + chunkByteSize - 1) / chunkByteSize;
    }

    /** Where the part of a rank begins in so many bytes; that of the rank after the last one is their end. */
    public static long partStart(int rank, int worldSize, long byteSize) {
        long share = (byteSize + worldSize - 1) / worldSize;
        long aligned = (share + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        return Math.min(byteSize, (long) rank * aligned);
    }

    /** The most bytes that fit a slot as often as there are ranks. */
    public static long shareOf(long chunkByteSize, int worldSize) {
        return chunkByteSize / worldSize / ALIGNMENT * ALIGNMENT;
    }
}
