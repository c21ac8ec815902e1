package dev.larder.loader.internal.image;

import dev.larder.loader.transform.Resampling;

/** The weights for each pixel of a resized row or column, as in Pillow's {@code Resample.c} for bytes. */
final class FilterWeights {
    /** The fractional bits of a weight. */
    static final int BITS = 32 - 8 - 2;

    /**
     * With up to this many weights, none of them negative, a sum of bytes rounds to a byte. Each weight is rounded up by at most a half, so
     * all together by at most 2^13, and 255 × (2^22 + 2^13) + 2^21 is less than 2^30.
     */
    private static final int EXACT_TAPS = 1 << 14;

    /** The first source pixel for each pixel of the result. */
    int[] first = {};

    /** The weights of the first source pixel for each pixel of the result, then those of the second, and so on. */
    int[][] byTap = {};

    /** The number of source pixels for each pixel of the result; some weights may be 0. */
    int taps;

    /** True if a sum of bytes with these weights may be less or more than a byte. */
    boolean overflow;

    private double[] exact = {};

    /**
     * Computes the weights of some pixels.
     *
     * @param from the start of the stretch to resize, and {@code to} its end
     * @param low the first pixel that may be read, and {@code high} the first that may not
     * @param size the size of the resized stretch; only {@code length} pixels from {@code begin} on are computed
     */
    @SuppressWarnings("checkstyle:ParameterNumber") // called for every image
    void compute(Resampling filter, double from, double to, int low, int high, int size, int begin, int length) {
        double scale = (to - from) / size;
        double wide = Math.max(1, scale);
        double support = support(filter) * wide;
        int available = high - low;
        taps = Math.min(available, (int) Math.ceil(2 * support) + 1);
        if (first.length < length) {
            first = new int[length];
        }
        if (byTap.length < taps || byTap[0].length < length) {
            byTap = new int[taps][length];
        }
        if (exact.length < taps) {
            exact = new double[taps];
        }
        int widest = 1;
        for (int i = 0; i < length; i++) {
            double center = center(from - low, begin + i, scale);
            widest = Math.max(widest, most(center, support, available) - least(center, support));
        }
        taps = widest;
        overflow = filter == Resampling.BICUBIC || filter == Resampling.LANCZOS || taps > EXACT_TAPS;
        for (int i = 0; i < length; i++) {
            double center = center(from - low, begin + i, scale);
            int least = least(center, support);
            int shifted = Math.min(least, available - taps);
            one(filter, i, least, most(center, support, available) - least, least - shifted, center, 1 / wide);
            first[i] = low + shifted;
        }
    }

    private static double center(double from, int place, double scale) {
        return from + (place + 0.5) * scale; // as if the part were cropped first
    }

    private static int least(double center, double support) {
        return Math.max(0, (int) (center - support + 0.5));
    }

    private static int most(double center, double support, int available) {
        return Math.min(available, (int) (center + support + 0.5));
    }

    @SuppressWarnings("checkstyle:ParameterNumber") // called for every row and column
    private void one(Resampling filter, int place, int least, int count, int zeros, double center, double narrow) {
        double sum = 0;
        for (int tap = 0; tap < count; tap++) {
            exact[tap] = weight(filter, (tap + least - center + 0.5) * narrow);
            sum += exact[tap];
        }
        for (int tap = 0; tap < taps; tap++) {
            byTap[tap][place] = 0;
        }
        for (int tap = 0; tap < count; tap++) {
            double weight = (sum == 0 ? exact[tap] : exact[tap] / sum) * (1 << BITS);
            byTap[zeros + tap][place] = (int) (weight < 0 ? weight - 0.5 : weight + 0.5);
        }
    }

    private static double support(Resampling filter) {
        return switch (filter) {
            case BOX -> 0.5;
            case BILINEAR -> 1;
            case BICUBIC -> 2;
            case LANCZOS -> 3;
        };
    }

    private static double weight(Resampling filter, double x) {
        return switch (filter) {
            case BOX -> x > -0.5 && x <= 0.5 ? 1 : 0;
            case BILINEAR -> Math.max(0, 1 - Math.abs(x));
            case BICUBIC -> cubic(Math.abs(x));
            case LANCZOS -> x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
        };
    }

    private static double cubic(double x) {
        double a = -0.5;
        if (x < 1) {
            return ((a + 2) * x - (a + 3)) * x * x + 1;
        }
        return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
    }

    private static double sinc(double x) {
        double angle = x * Math.PI;
        return x == 0 ? 1 : StrictMath.sin(angle) / angle;
    }
}
