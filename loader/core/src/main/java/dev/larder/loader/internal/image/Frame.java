package dev.larder.loader.internal.image;

/**
 * The crop and the size for an image: a box is resized to {@code fullWidth × fullHeight} pixels, and a window of that is the result.
 * Reused for every image.
 */
final class Frame {
    double left;
    double top;
    double right;
    double bottom;

    /** The size of the resized box. */
    int fullWidth;

    int fullHeight;

    /** The corner of the window in the resized box. */
    int x;

    int y;

    /** Sets a box and its size; the window is all of it. */
    void set(double newLeft, double newTop, double newRight, double newBottom, int newWidth, int newHeight) {
        left = newLeft;
        top = newTop;
        right = newRight;
        bottom = newBottom;
        fullWidth = newWidth;
        fullHeight = newHeight;
        x = 0;
        y = 0;
    }

    /**
     * Returns how much a decoder may shrink the image so that the filter need not enlarge the box: 1, 2, 4 or 8, at most {@code most}.
     */
    int shrink(int most) {
        int shrink = 1;
        while (2 * shrink <= most
                && (right - left) >= 2.0 * shrink * fullWidth
                && (bottom - top) >= 2.0 * shrink * fullHeight) {
            shrink *= 2;
        }
        return shrink;
    }

    /** Converts to pixels of the shrunk image. */
    void shrinkBy(int shrink) {
        left /= shrink;
        top /= shrink;
        right /= shrink;
        bottom /= shrink;
    }
}
