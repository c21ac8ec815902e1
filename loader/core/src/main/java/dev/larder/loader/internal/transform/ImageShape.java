package dev.larder.loader.internal.transform;

/**
 * The memory layout of the elements of a sample.
 *
 * @param planar whether channels come first
 */
record ImageShape(int height, int width, int channels, boolean planar) {
    /** Returns the number of elements. */
    int size() {
        return height * width * channels;
    }

    /** Returns the distance between pixels of a row, in elements. */
    int columnStride() {
        return planar ? 1 : channels;
    }

    /** Returns the distance between rows, in elements. */
    int rowStride() {
        return planar ? width : width * channels;
    }

    /** Returns the distance between channels of a pixel, in elements. */
    int channelStride() {
        return planar ? height * width : 1;
    }
}
