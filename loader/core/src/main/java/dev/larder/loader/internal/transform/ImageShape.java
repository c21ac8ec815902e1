package dev.larder.loader.internal.transform;

/**
 * How the elements of a sample lie in memory.
 *
 * @param planar whether channels come first
 */
record ImageShape(int height, int width, int channels, boolean planar) {
    /** Returns how many elements there are. */
    int size() {
        return height * width * channels;
    }

    /** Returns how far apart the pixels of a row are. */
    int columnStride() {
        return planar ? 1 : channels;
    }

    /** Returns how far apart rows are. */
    int rowStride() {
        return planar ? width : width * channels;
    }

    /** Returns how far apart the channels of a pixel are. */
    int channelStride() {
        return planar ? height * width : 1;
    }
}
