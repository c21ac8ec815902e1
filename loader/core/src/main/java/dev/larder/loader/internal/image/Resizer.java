package dev.larder.loader.internal.image;

import dev.larder.loader.transform.Resampling;

/**
 * Resizes bytes as Pillow does: columns first, then rows, each sum rounded to a byte. Not thread-safe. Buffers as many rows of the new
 * width as a row of the result needs.
 *
 * <p>A sum takes 30 bits. Two of them share a long, so that one multiplication serves two bytes: red and blue of
 * one row, and green of two rows. Rows are summed as ints, which the JVM vectorizes.
 */
final class Resizer {
    private static final int BITS = FilterWeights.BITS;
    private static final int HALF = 1 << (BITS - 1);
    private static final long HALVES = HALF | ((long) HALF << 32);

    private final FilterWeights across = new FilterWeights();
    private final FilterWeights down = new FilterWeights();
    private int[] row = {};
    private int[] nextRow = {};
    private long[] redAndBlue = {};
    private long[] nextRedAndBlue = {};
    private long[] greens = {};
    private int[][] narrowed = {};
    private int[] sums = {};

    /** Writes the frame's window, {@code height × width × channels}, from {@code at} on. */
    void run(Pixels from, Frame frame, Resampling filter, int height, int width, byte[] target, int at) {
        int lowX = clamp((int) Math.floor(frame.left), from.width - 1);
        int highX = Math.max(lowX + 1, clamp((int) Math.ceil(frame.right), from.width));
        int lowY = clamp((int) Math.floor(frame.top), from.height - 1);
        int highY = Math.max(lowY + 1, clamp((int) Math.ceil(frame.bottom), from.height));
        reserveRow(Math.max(highX - lowX, width));
        if (isSame(frame)) {
            copy(from, (int) frame.left + frame.x, (int) frame.top + frame.y, height, width, target, at);
            return;
        }
        across.compute(filter, frame.left, frame.right, lowX, highX, frame.fullWidth, frame.x, width);
        down.compute(filter, frame.top, frame.bottom, lowY, highY, frame.fullHeight, frame.y, height);
        int length = width * from.channels;
        int kept = down.taps + 1; // rows are resized in pairs
        if (narrowed.length < kept || sums.length < length) {
            narrowed = new int[kept][length];
            sums = new int[length];
        }
        int next = down.first[0];
        for (int y = 0; y < height; y++) {
            next = Math.max(next, down.first[y]);
            while (next < down.first[y] + down.taps) {
                boolean pair = next + 1 < highY;
                int[] first = narrowed[next % kept];
                narrow(from, next, lowX, highX - lowX, width, first, pair ? narrowed[(next + 1) % kept] : first);
                next += pair ? 2 : 1;
            }
            shorten(y, kept, length);
            for (int i = 0; i < length; i++) {
                target[at + i] = (byte) (sums[i] >> BITS);
            }
            at += length;
        }
    }

    private void reserveRow(int length) {
        if (row.length < length) {
            row = new int[length];
            nextRow = new int[length];
            redAndBlue = new long[length];
            nextRedAndBlue = new long[length];
            greens = new long[length];
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
            if (from.channels == 1) {
                for (int j = 0; j < width; j++) {
                    target[place++] = (byte) row[j];
                }
                continue;
            }
            for (int j = 0; j < width; j++) {
                int pixel = row[j];
                target[place] = (byte) pixel;
                target[place + 1] = (byte) (pixel >> 8);
                target[place + 2] = (byte) (pixel >> 16);
                place += 3;
            }
        }
    }

    /** Resizes two rows in width; if there is no second one, the results are the same array. */
    private void narrow(Pixels from, int y, int x, int count, int width, int[] first, int[] second) {
        from.row(y, x, count, row);
        if (first != second) {
            from.row(y + 1, x, count, nextRow);
        }
        if (from.channels == 1) {
            spread(row, nextRow, count, greens);
            narrowGrey(x, width, first, second);
            return;
        }
        spread(row, nextRow, count);
        if (across.taps == 2 && !across.signed) {
            narrowByTwo(x, width, first, second);
        } else if (across.taps == 3 && !across.signed) {
            narrowByThree(x, width, first, second);
        } else {
            narrowByMore(x, width, first, second);
        }
    }

    private void spread(int[] first, int[] second, int count) {
        for (int i = 0; i < count; i++) {
            int pixel = first[i];
            int other = second[i];
            redAndBlue[i] = (pixel & 0xffL) | ((pixel & 0xff_0000L) << 16);
            nextRedAndBlue[i] = (other & 0xffL) | ((other & 0xff_0000L) << 16);
            greens[i] = ((pixel >>> 8) & 0xffL) | ((other & 0xff00L) << 24);
        }
    }

    private static void spread(int[] first, int[] second, int count, long[] target) {
        for (int i = 0; i < count; i++) {
            target[i] = (first[i] & 0xffL) | ((second[i] & 0xffL) << 32);
        }
    }

    private void narrowByTwo(int x, int width, int[] firstRow, int[] secondRow) {
        int[] starts = across.first;
        long[] weights = across.byTap[0];
        long[] moreWeights = across.byTap[1];
        long[] twos = redAndBlue;
        long[] nextTwos = nextRedAndBlue;
        long[] ones = greens;
        for (int i = 0; i < width; i++) {
            int at = starts[i] - x;
            long a = weights[i];
            long b = moreWeights[i];
            long first = HALVES + twos[at] * a + twos[at + 1] * b;
            long second = HALVES + nextTwos[at] * a + nextTwos[at + 1] * b;
            long both = HALVES + ones[at] * a + ones[at + 1] * b;
            write(second, both >>> (32 + BITS), secondRow, 3 * i);
            write(first, both >>> BITS, firstRow, 3 * i);
        }
    }

    private void narrowByThree(int x, int width, int[] firstRow, int[] secondRow) {
        int[] starts = across.first;
        long[] weights = across.byTap[0];
        long[] moreWeights = across.byTap[1];
        long[] lastWeights = across.byTap[2];
        long[] twos = redAndBlue;
        long[] nextTwos = nextRedAndBlue;
        long[] ones = greens;
        for (int i = 0; i < width; i++) {
            int at = starts[i] - x;
            long a = weights[i];
            long b = moreWeights[i];
            long c = lastWeights[i];
            long first = HALVES + twos[at] * a + twos[at + 1] * b + twos[at + 2] * c;
            long second = HALVES + nextTwos[at] * a + nextTwos[at + 1] * b + nextTwos[at + 2] * c;
            long both = HALVES + ones[at] * a + ones[at + 1] * b + ones[at + 2] * c;
            write(second, both >>> (32 + BITS), secondRow, 3 * i);
            write(first, both >>> BITS, firstRow, 3 * i);
        }
    }

    private void narrowByMore(int x, int width, int[] firstRow, int[] secondRow) {
        for (int i = 0; i < width; i++) {
            int at = across.first[i] - x;
            long first = HALVES;
            long second = HALVES;
            long both = HALVES;
            for (int tap = 0; tap < across.taps; tap++) {
                long weight = across.byTap[tap][i];
                first += redAndBlue[at + tap] * weight;
                second += nextRedAndBlue[at + tap] * weight;
                both += greens[at + tap] * weight;
            }
            writeSigned(second, (int) ((both - (int) both) >> 32), secondRow, 3 * i);
            writeSigned(first, (int) both, firstRow, 3 * i);
        }
    }

    /** Writes sums of non-negative weights with the sum 1, which cannot exceed a byte. */
    private static void write(long redAndBlue, long green, int[] target, int place) {
        target[place] = (int) (redAndBlue >>> BITS) & 0xff;
        target[place + 1] = (int) green & 0xff;
        target[place + 2] = (int) (redAndBlue >>> (32 + BITS)) & 0xff;
    }

    private static void writeSigned(long redAndBlue, int green, int[] target, int place) {
        int red = (int) redAndBlue;
        target[place] = toByte(red);
        target[place + 1] = toByte(green);
        target[place + 2] = toByte((int) ((redAndBlue - red) >> 32));
    }

    private void narrowGrey(int x, int width, int[] firstRow, int[] secondRow) {
        for (int i = 0; i < width; i++) {
            int at = across.first[i] - x;
            long both = HALVES;
            for (int tap = 0; tap < across.taps; tap++) {
                both += greens[at + tap] * across.byTap[tap][i];
            }
            int low = (int) both;
            secondRow[i] = toByte((int) ((both - low) >> 32));
            firstRow[i] = toByte(low);
        }
    }

    private static int toByte(int sum) {
        return Math.max(0, Math.min(255, sum >> BITS));
    }

    /** Computes one row of the result from rows of the new width, as sums before the shift. */
    private void shorten(int y, int kept, int length) {
        int first = down.first[y];
        int[] a = narrowed[first % kept];
        int[] b = narrowed[(first + 1) % kept];
        int weight = (int) down.byTap[0][y];
        int tap = 1;
        if (down.taps == 2) {
            add(a, b, weight, (int) down.byTap[1][y], length, sums);
            tap = 2;
        } else if (down.taps > 2) {
            int[] c = narrowed[(first + 2) % kept];
            add(a, b, c, weight, (int) down.byTap[1][y], (int) down.byTap[2][y], length, sums);
            tap = 3;
        } else {
            add(a, a, weight, 0, length, sums);
        }
        for (; tap < down.taps; tap++) {
            add(narrowed[(first + tap) % kept], (int) down.byTap[tap][y], length, sums);
        }
        if (down.signed) { // else no sum exceeds a byte
            for (int i = 0; i < length; i++) {
                sums[i] = Math.max(0, Math.min(255, sums[i] >> BITS)) << BITS;
            }
        }
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
            into[i] += a[i] * weight;
        }
    }
}
