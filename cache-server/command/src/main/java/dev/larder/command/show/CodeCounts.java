package dev.larder.command.show;

import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.LongConsumer;

/**
 * Counts the values of elements of one or two bytes, by their bits. Statistics and histograms follow from the counts, so each element
 * is read once.
 */
final class CodeCounts {
    private static final int STEP = 8192;

    private final Dtype dtype;
    private final long[] counts;

    private CodeCounts(Dtype dtype, long[] counts) {
        this.dtype = dtype;
        this.counts = counts;
    }

    /** Returns whether elements have one or two bytes. */
    static boolean arePossible(Dtype dtype) {
        return dtype.itemSize() <= Short.BYTES;
    }

    /** Counts all elements. */
    static CodeCounts of(Cells cells, LongConsumer onElements) {
        long[] all = new long[1 << (Byte.SIZE * cells.dtype().itemSize())];
        Windows.parts(cells, onElements, windows -> {
                    long[] counts = new long[all.length];
                    windows.forEach(bytes -> count(bytes, counts));
                    return counts;
                })
                .forEach(counts -> {
                    for (int code = 0; code < all.length; code++) {
                        all[code] += counts[code];
                    }
                });
        return new CodeCounts(cells.dtype(), all);
    }

    private static void count(ByteBuffer bytes, long[] counts) {
        byte[] step = new byte[STEP];
        for (int from = 0; from < bytes.capacity(); from += STEP) {
            int length = Math.min(STEP, bytes.capacity() - from);
            bytes.get(from, step, 0, length);
            if (counts.length <= 1 << Byte.SIZE) {
                for (int i = 0; i < length; i++) {
                    counts[step[i] & 0xff]++;
                }
            } else {
                for (int i = 0; i < length; i += Short.BYTES) {
                    counts[(step[i] & 0xff) | ((step[i + 1] & 0xff) << Byte.SIZE)]++;
                }
            }
        }
    }

    /** Visits each value that occurs, in the order of the bits. */
    void forEach(Visitor visitor) {
        ByteBuffer bits = ByteBuffer.allocate(Short.BYTES);
        for (int code = 0; code < counts.length; code++) {
            if (counts[code] > 0) {
                bits.order(ByteOrder.LITTLE_ENDIAN).putShort(0, (short) code);
                visitor.visit(bits, Numbers.at(dtype, bits, 0), counts[code]);
            }
        }
    }

    /** Receives a value, as bytes and as a number, and its count. */
    @FunctionalInterface
    interface Visitor {
        void visit(ByteBuffer bits, double value, long count);
    }
}
