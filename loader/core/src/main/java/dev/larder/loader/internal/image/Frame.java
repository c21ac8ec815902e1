package dev.larder.loader.internal.image;

/**
 * Which part of an image becomes what: a box of it is made {@code fullWidth × fullHeight} pixels, of which a window is
 * kept. Used again for every image.
 */
final class Frame {
    double left;
    double top;
    double right;
    double bottom;

    /** How large the box becomes. */
    int fullWidth;

    int fullHeight;

    /** The corner of the window in it. */
    int x;

    int y;

    /** Takes a box, and keeps all of it. */
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
     * Returns by how much an image may be shrunk by a decoder before the filter would have to make the box larger
     * again: 1, 2, 4 or 8, and at most so many.
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

    /** Counts in pixels of the shrunk image. */
    void shrinkBy(int shrink) {
        left /= shrink;
        top /= shrink;
        right /= shrink;
        bottom /= shrink;
    }
}
