package dev.larder.testing;

import dev.larder.client.ArrayView;
import dev.larder.client.ArrayWriter;
import dev.larder.client.Dataset;
import dev.larder.client.DatasetBuilder;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;

/**
 * Data that tells by itself whether it is whole and of one version: every array of a dataset counts upwards from the same
 * number, and every version starts at another.
 */
final class Ramp {
    private static final Dtype TYPE = Dtype.parse("<u4");
    private static final int STEP = 1 << 16;

    private Ramp() {}

    /** Checks every element of every array, and returns how many bytes that were; an {@link AssertionError} tells what is wrong. */
    static long check(Dataset dataset) {
        long bytes = 0;
        int key = 0;
        for (int i = 0; i < dataset.arrayNames().size(); i++) {
            String name = dataset.arrayNames().get(i);
            ArrayView view = dataset.array(name);
            key = i == 0 ? view.getInt(0) : key;
            check(dataset, view, key);
            bytes += view.byteSize();
        }
        return bytes;
    }

    private static void check(Dataset dataset, ArrayView view, int key) {
        long rows = view.rows();
        for (long first = 0; first < rows; first += STEP) {
            IntBuffer found = view.byteBuffer(first, Math.min(STEP, rows - first))
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .asIntBuffer();
            int expected = key + (int) first;
            for (int i = 0; i < found.limit(); i++) {
                if (found.get(i) != expected + i) {
                    throw new AssertionError("dataset=" + dataset.name() + " version=" + dataset.version() + " array="
                            + view.name() + " index=" + (first + i) + " found=" + found.get(i) + " expected="
                            + (expected + i));
                }
            }
        }
    }

    /** Adds an array that counts from {@code key}, and rests after each part of it. */
    static void fill(DatasetBuilder builder, String array, int key, int count, Runnable rest) {
        ArrayWriter writer = builder.array(array, TYPE, count);
        ByteBuffer part = ByteBuffer.allocate(STEP * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int first = 0; first < count; first += STEP) {
            int length = Math.min(STEP, count - first);
            part.clear();
            for (int i = 0; i < length; i++) {
                part.putInt(key + first + i);
            }
            writer.write((long) first * Integer.BYTES, part.flip());
            rest.run();
        }
    }
}
