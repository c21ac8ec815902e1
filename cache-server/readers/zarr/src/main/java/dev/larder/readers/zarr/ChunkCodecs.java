package dev.larder.readers.zarr;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Unpacks chunks: undoes the codecs of bytes, the last one first, then the order of the bytes of an element, then that of the dimensions.
 *
 * @param unpackers undo codecs in the order of writing
 * @param axes the dimension of the array at each place of a stored chunk; null if they are in the same order
 * @param turnedBytes how many bytes turn together; 1 if their order is that of the type
 * @param chunk the shape of a chunk
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ChunkCodecs(List<Unpacker> unpackers, int @Nullable [] axes, int turnedBytes, int[] chunk, int elementBytes) {
    private static final int SLACK_BYTES = 1 << 16;

    /** Returns whether chunks are stored as they are in memory. */
    boolean areNone() {
        return unpackers.isEmpty() && axes == null && turnedBytes == 1;
    }

    int chunkBytes() {
        int bytes = elementBytes;
        for (int length : chunk) {
            bytes *= length; // fits: a chunk that does not was refused
        }
        return bytes;
    }

    /** Returns how long the data was before a codec, at most: those before it may have packed noise. */
    private static int mostBytes(int codec, int mostAtFirst) {
        long most = mostAtFirst;
        for (int i = 0; i < codec; i++) {
            most += most / 2 + SLACK_BYTES;
        }
        return (int) Math.min(Integer.MAX_VALUE - SLACK_BYTES, most);
    }

    /** Returns a stored chunk as it was before the codecs of bytes; its length is unknown, but has a limit. */
    byte[] unpack(byte[] stored, int most) throws IOException {
        byte[] bytes = stored;
        for (int i = unpackers.size() - 1; i >= 0; i--) {
            bytes = unpackers.get(i).undo(bytes, mostBytes(i, most));
        }
        return bytes;
    }

    /** Returns the elements of a stored chunk, in C order. */
    byte[] undo(byte[] stored) throws IOException {
        byte[] bytes = unpack(stored, chunkBytes());
        if (bytes.length != chunkBytes()) {
            throw new IOException("it has " + bytes.length + " bytes, not " + chunkBytes());
        }
        if (turnedBytes > 1) {
            turn(bytes, turnedBytes);
        }
        return axes == null ? bytes : inOrder(bytes);
    }

    private static void turn(byte[] bytes, int together) {
        for (int start = 0; start < bytes.length; start += together) {
            for (int low = start, high = start + together - 1; low < high; low++, high--) {
                byte other = bytes[low];
                bytes[low] = bytes[high];
                bytes[high] = other;
            }
        }
    }

    /** Returns how far successive elements of each dimension are apart in a stored chunk, if all elements are so long. */
    int[] strides(int bytes) {
        int[] strides = new int[chunk.length];
        int stride = bytes;
        for (int at = chunk.length - 1; at >= 0; at--) {
            int axis = axes == null ? at : axes[at];
            strides[axis] = stride;
            stride *= chunk[axis];
        }
        return strides;
    }

    private byte[] inOrder(byte[] stored) {
        int dimensions = chunk.length;
        int[] strides = strides(elementBytes);
        byte[] bytes = new byte[stored.length];
        int[] index = new int[dimensions];
        int last = dimensions - 1;
        int from = 0;
        for (int to = 0; to < bytes.length; ) {
            for (int i = 0, source = from; i < chunk[last]; i++, source += strides[last], to += elementBytes) {
                copyElement(stored, source, bytes, to);
            }
            for (int axis = last - 1; axis >= 0; axis--) {
                from += strides[axis];
                if (++index[axis] < chunk[axis]) {
                    break;
                }
                from -= strides[axis] * chunk[axis];
                index[axis] = 0;
            }
        }
        return bytes;
    }

    /** Copies a few bytes: a call for so few would take longer. */
    private void copyElement(byte[] from, int source, byte[] to, int target) {
        for (int i = 0; i < elementBytes; i++) {
            to[target + i] = from[source + i];
        }
    }
}
