package dev.larder.loader.internal.image;

import dev.larder.loader.transform.Resampling;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Resizes bytes as Pillow does: columns first, then rows, each sum rounded to a byte. Not thread-safe. Buffers as many rows of the new
 * width as a row of the result needs.
 *
 * <p>The JVM vectorizes short loops over int arrays, but no loop that looks up its elements. So for each tap of the filter, one loop
 * picks a pixel for each column of the result, and others add up the channels, each in an array of its own. A sum takes 30 bits.
 */
final class Resizer {
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int BITS = FilterWeights.BITS;
    private static final int HALF = 1 << (BITS - 1);
    private static final int MASK = 0xff;

    private final FilterWeights across = new FilterWeights();
    private final FilterWeights down = new FilterWeights();
    private int[] row = {};
    private int[] picked = {};

    /** Rows of the new width: for each, its channels. */
    private int[][][] narrowed = {};

    private int[][] sums = {};

    /** Writes the frame's window, {@code height × width × channels}, from {@code at} on. */
    void run(Pixels from, Frame frame, Resampling filter, int height, int width, byte[] target, int at) {
        int lowX = clamp((int) Math.floor(frame.left), from.width - 1);
        int highX = Math.max(lowX + 1, clamp((int) Math.ceil(frame.right), from.width));
        int lowY = clamp((int) Math.floor(frame.top), from.height - 1);
        int highY = Math.max(lowY + 1, clamp((int) Math.ceil(frame.bottom), from.height));
        if (row.length < Math.max(highX - lowX, width)) {
            row = new int[Math.max(highX - lowX, width)];
        }
        if (isSame(frame)) {
            copy(from, (int) frame.left + frame.x, (int) frame.top + frame.y, height, width, target, at);
            return;
        }
        across.compute(filter, frame.left, frame.right, lowX, highX, frame.fullWidth, frame.x, width);
        down.compute(filter, frame.top, frame.bottom, lowY, highY, frame.fullHeight, frame.y, height);
        reserve(from.channels, width);
        int next = down.first[0];
        for (int y = 0; y < height; y++) {
            next = Math.max(next, down.first[y]);
            for (; next < down.first[y] + down.taps; next++) {
                from.row(next, lowX, highX - lowX, row);
                narrow(lowX, from.channels, width, narrowed[next % down.taps]);
            }
            for (int channel = 0; channel < from.channels; channel++) {
                shorten(y, channel, width, sums[channel]);
            }
            if (from.channels != 1) {
                join(sums[0], sums[1], sums[2], width, row);
            }
            write(from.channels == 1 ? sums[0] : row, width, from.channels, target, at);
            at += width * from.channels;
        }
    }

    private void reserve(int channels, int width) {
        if (picked.length < width || sums.length < channels) {
            picked = new int[width];
            sums = new int[channels][width];
            narrowed = new int[0][][];
        }
        if (narrowed.length < down.taps) {
            narrowed = new int[down.taps][sums.length][picked.length];
        }
    }

    private static int clamp(int value, int most) {
        return Math.max(0, Math.min(value, most));
    }

    /** Returns whether the frame does not change pixels. */
    private static boolean isSame(Frame frame) {
        return frame.right - frame.left == frame.fullWidth
                && frame.bottom - frame.top == frame.fullHeight
                && frame.left == (int) frame.left
                && frame.top == (int) frame.top;
    }

    private void copy(Pixels from, int x, int y, int height, int width, byte[] target, int at) {
        int place = at;
        for (int i = 0; i < height; i++) {
            from.row(y + i, x, width, row);
            write(row, width, from.channels, target, place);
            place += width * from.channels;
        }
    }

    /** Resizes the row in width. */
    private void narrow(int x, int channels, int width, int[][] made) {
        for (int tap = 0; tap < across.taps; tap++) {
            pick(row, across.first, tap - x, width, picked);
            int[] weights = across.byTap[tap];
            for (int channel = 0; channel < channels; channel++) {
                if (tap == 0) {
                    begin(picked, 8 * channel, weights, width, made[channel]);
                } else {
                    add(picked, 8 * channel, weights, width, made[channel]);
                }
            }
        }
        for (int channel = 0; channel < channels; channel++) {
            round(made[channel], across.overflow, width);
        }
    }

    private static void pick(int[] row, int[] starts, int shift, int width, int[] picked) {
        for (int i = 0; i < width; i++) {
            picked[i] = row[starts[i] + shift];
        }
    }

    /** Begins the sums of one channel, which begins at bit {@code low} of a pixel. */
    private static void begin(int[] pixels, int low, int[] weights, int width, int[] into) {
        for (int i = 0; i < width; i++) {
            into[i] = HALF + ((pixels[i] >>> low) & MASK) * weights[i];
        }
    }

    private static void add(int[] pixels, int low, int[] weights, int width, int[] into) {
        for (int i = 0; i < width; i++) {
            into[i] = into[i] + ((pixels[i] >>> low) & MASK) * weights[i];
        }
    }

    /**
     * Rounds sums to bytes. Clips only where {@link FilterWeights#overflow} is true, because that takes time: by the signs of
     * differences, since the JVM does not vectorize {@code Math.min} and {@code Math.max} here.
     */
    private static void round(int[] sums, boolean clip, int width) {
        if (clip) {
            for (int i = 0; i < width; i++) {
                int value = sums[i] >> BITS;
                sums[i] = (value | ((MASK - value) >> 31)) & ~(value >> 31) & MASK;
            }
        } else {
            for (int i = 0; i < width; i++) {
                sums[i] = sums[i] >>> BITS;
            }
        }
    }

    /** Computes one channel of a row of the result from rows of the new width. */
    private void shorten(int y, int channel, int width, int[] made) {
        int first = down.first[y];
        int[] a = narrowed[first % down.taps][channel];
        int[] b = narrowed[(first + 1) % down.taps][channel];
        int weight = down.byTap[0][y];
        int tap = Math.min(3, down.taps);
        if (tap == 1) {
            add(a, a, weight, 0, width, made);
        } else if (tap == 2) {
            add(a, b, weight, down.byTap[1][y], width, made);
        } else {
            int[] c = narrowed[(first + 2) % down.taps][channel];
            add(a, b, c, weight, down.byTap[1][y], down.byTap[2][y], width, made);
        }
        for (; tap < down.taps; tap++) {
            add(narrowed[(first + tap) % down.taps][channel], down.byTap[tap][y], width, made);
        }
        round(made, down.overflow, width);
    }

    private static void add(int[] a, int[] b, int weightA, int weightB, int length, int[] into) {
        for (int i = 0; i < length; i++) {
            into[i] = HALF + a[i] * weightA + b[i] * weightB;
        }
    }

    @SuppressWarnings("checkstyle:ParameterNumber") // called for every row
    private static void add(int[] a, int[] b, int[] c, int weightA, int weightB, int weightC, int length, int[] into) {
        for (int i = 0; i < length; i++) {
            into[i] = HALF + a[i] * weightA + b[i] * weightB + c[i] * weightC;
        }
    }

    private static void add(int[] a, int weight, int length, int[] into) {
        for (int i = 0; i < length; i++) {
            into[i] = into[i] + a[i] * weight;
        }
    }

    private static void join(int[] red, int[] green, int[] blue, int width, int[] pixels) {
        for (int i = 0; i < width; i++) {
            pixels[i] = red[i] | (green[i] << 8) | (blue[i] << 16);
        }
    }

    /** Writes the one or three low bytes of each pixel. */
    private static void write(int[] pixels, int width, int channels, byte[] target, int at) {
        if (channels == 1) {
            for (int i = 0; i < width; i++) {
                target[at + i] = (byte) pixels[i];
            }
            return;
        }
        int last = at + 3 * (width - 1);
        for (int i = 0; i < width - 1; i++) {
            INTS.set(target, at + 3 * i, pixels[i]); // the next pixel overwrites the fourth byte
        }
        target[last] = (byte) pixels[width - 1];
        target[last + 1] = (byte) (pixels[width - 1] >> 8);
        target[last + 2] = (byte) (pixels[width - 1] >> 16);
    }
}
