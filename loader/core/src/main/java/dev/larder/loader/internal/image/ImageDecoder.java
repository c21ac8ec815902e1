package dev.larder.loader.internal.image;

import dev.larder.loader.transform.Colours;

/** A library that decodes images. Each thread has its own session. */
interface ImageDecoder {
    /** Returns its name. */
    String name();

    /** Opens a session, which decodes one image after the other. */
    Session open();

    /** Decodes for one thread. Fails with {@code BAD_INPUT} and the reason if an image cannot be decoded. */
    interface Session {
        /** Reads the header of an image: sets {@link #width} and {@link #height}. */
        void readHeader(EncodedImage image);

        int width();

        int height();

        /** Returns the largest factor by which decoding can shrink the image. */
        int mostShrink();

        /**
         * Decodes the image of the last header, shrunk to 1/1, 1/2, 1/4 or 1/8 of its sides, rounded up. May change the image, and leave
         * out rows.
         *
         * @param rows the first rows of the image that the target needs, not shrunk
         */
        void decode(EncodedImage image, Colours colours, int shrink, int rows, DecodedPixels target);
    }
}
