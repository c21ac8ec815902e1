package dev.larder.readers.zarr;

import org.jspecify.annotations.Nullable;

/**
 * An array as its metadata describes it.
 *
 * @param fill the bytes of an element that was never written; null for zeros
 * @param shards the files of several chunks; null if each chunk is a file
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ArrayMetadata(
        long[] shape,
        Element element,
        byte @Nullable [] fill,
        ChunkKeys keys,
        ChunkCodecs codecs,
        @Nullable ShardFiles shards) {
    /** Returns the shape, with one dimension at least. */
    long[] rowsShape() {
        return shape.length == 0 ? new long[] {1} : shape;
    }

    /** Returns the shape of a chunk, with one dimension at least. */
    int[] rowsChunk() {
        return shape.length == 0 ? new int[] {1} : codecs.chunk();
    }

    /** Returns whether the one chunk of the array is its bytes, as they are in memory. */
    boolean isOneFile() {
        if (element.hasAnyLength() || !codecs.areNone() || shards != null || !hasElements()) {
            return false;
        }
        for (int axis = 0; axis < shape.length; axis++) {
            if (codecs.chunk()[axis] != shape[axis]) {
                return false;
            }
        }
        return true;
    }

    boolean hasElements() {
        for (long length : shape) {
            if (length == 0) {
                return false;
            }
        }
        return true;
    }
}
