package dev.larder.loader.internal.image;

/** A decoded image: rows of pixels, read one by one. */
abstract class Pixels {
    int width;
    int height;

    /** The channels of a pixel: 3, or 1 for grey. */
    int channels;

    /**
     * Reads a part of a row.
     *
     * @param target receives one number for each pixel: grey, or red + 2⁸ green + 2¹⁶ blue; higher bits are undefined
     */
    abstract void row(int y, int x, int count, int[] target);
}
