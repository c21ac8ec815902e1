package dev.larder.readers.zarr;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The elements of any length of a chunk: their number, then each behind its length.
 *
 * @param starts the places of the first elements
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record PackedTexts(byte[] bytes, int[] starts) {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /** Finds the first elements of an unpacked chunk. */
    static PackedTexts of(byte[] bytes, int count) throws IOException {
        int found = bytes.length < Integer.BYTES ? 0 : (int) INT.get(bytes, 0);
        if (found < count) {
            throw new IOException("it has " + found + " elements, not " + count);
        }
        int[] starts = new int[Math.min(count, bytes.length / Integer.BYTES)];
        int at = Integer.BYTES;
        for (int i = 0; i < count; i++) {
            if (at > bytes.length - Integer.BYTES) {
                throw new IOException("it ends before element " + i);
            }
            int length = (int) INT.get(bytes, at);
            at += Integer.BYTES;
            if (length < 0 || length > bytes.length - at) {
                throw new IOException("an element has " + Integer.toUnsignedString(length) + " bytes");
            }
            starts[i] = at;
            at += length;
        }
        return new PackedTexts(bytes, starts);
    }

    int length(int element) {
        return (int) INT.get(bytes, starts[element] - Integer.BYTES);
    }

    /** Returns how much memory it takes. */
    long heapBytes() {
        return bytes.length + (long) Integer.BYTES * starts.length;
    }
}
