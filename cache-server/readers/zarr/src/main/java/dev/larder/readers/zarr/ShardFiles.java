package dev.larder.readers.zarr;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Files of several chunks each, with an index of 16 bytes for each chunk: its offset and its length, both {@link #MISSING} if it was never written.
 *
 * @param shape how many chunks a file has in each dimension
 * @param indexUnpackers undo codecs of the index
 * @param storedIndexBytes the length of the index in a file
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ShardFiles(long[] shape, List<Unpacker> indexUnpackers, int storedIndexBytes, ByteOrder order, boolean isAtEnd) {
    static final long MISSING = -1;
    static final int ENTRY_BYTES = 2 * Long.BYTES;

    /** Returns the place of the index in a file. */
    long indexOffset(long fileBytes) throws IOException {
        if (fileBytes < storedIndexBytes) {
            throw new IOException("it has " + fileBytes + " bytes, and its index needs " + storedIndexBytes);
        }
        return isAtEnd ? fileBytes - storedIndexBytes : 0;
    }

    /** Returns the entries of an index. */
    ByteBuffer entries(byte[] stored) throws IOException {
        byte[] bytes = stored;
        for (int i = indexUnpackers.size() - 1; i >= 0; i--) {
            bytes = indexUnpackers.get(i).undo(bytes, storedIndexBytes);
        }
        return ByteBuffer.wrap(bytes).order(order);
    }

    /** Returns the place of the entry of a chunk, by the chunk's place in the whole array. */
    int entry(long[] place) {
        long number = 0;
        for (int axis = 0; axis < shape.length; axis++) {
            number = number * shape[axis] + place[axis] % shape[axis];
        }
        return (int) number * ENTRY_BYTES;
    }

    /** Returns the place of the file with a chunk. */
    long[] file(long[] place) {
        long[] file = new long[shape.length];
        for (int axis = 0; axis < shape.length; axis++) {
            file[axis] = place[axis] / shape[axis];
        }
        return file;
    }
}
