package dev.larder.npy;

import org.jspecify.annotations.Nullable;

/** Multiplies the dimensions of an array without overflow. Ignores dimensions of 0, as numpy does. */
final class ShapeSize {
    private static final long OVERFLOW = -1;

    private ShapeSize() {}

    /** Returns the reason why no array can have this shape, or null if one can. */
    static @Nullable String objection(long[] shape, int itemSize) {
        if (shape.length > NpyHeader.MAX_DIMENSIONS) {
            return "there are more than " + NpyHeader.MAX_DIMENSIONS + " dimensions";
        }
        for (long dimension : shape) {
            if (dimension < 0) {
                return "a dimension is negative";
            }
        }
        return elementCount(shape, itemSize) == OVERFLOW ? "the size overflows 64 bits" : null;
    }

    /** Returns the number of elements of a shape that passed {@link #objection}. */
    static long elementCount(long[] shape, int itemSize) {
        long size = Math.max(1, itemSize);
        long product = size;
        boolean empty = false;
        for (long dimension : shape) {
            if (dimension == 0) {
                empty = true;
            } else if (product > Long.MAX_VALUE / dimension) {
                return OVERFLOW;
            } else {
                product *= dimension;
            }
        }
        return empty ? 0 : product / size;
    }
}
