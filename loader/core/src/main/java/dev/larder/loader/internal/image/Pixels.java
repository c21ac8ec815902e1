package dev.larder.loader.internal.image;

/** A decoded image: rows of pixels, read one by one. */
abstract class Pixels {
    int width;
    int height;

    /** How many bytes of each pixel count: 3, or 1 for grey. */
    int channels;

    /**
     * Reads a part of a row.
     *
     * @param target gets one number for each pixel: grey, or red + 2⁸ green + 2¹⁶ blue; what lies above may be anything
     */
    abstract void row(int y, int x, int count, int[] target);
}
