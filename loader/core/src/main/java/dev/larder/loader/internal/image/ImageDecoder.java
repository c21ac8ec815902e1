package dev.larder.loader.internal.image;

import dev.larder.loader.transform.Colours;

/** A library that decodes images: the border to it. Each thread reads with a session of its own. */
interface ImageDecoder {
    /** Returns its name. */
    String name();

    /** Begins to decode images, one after the other. */
    Session open();

    /** Decodes for one thread. What an image does not allow fails with {@code BAD_INPUT} and the reason. */
    interface Session {
        /** Looks at an image, whose pixels are not decoded yet: sets {@link #width} and {@link #height}. */
        void readHeader(EncodedImage image);

        int width();

        int height();

        /** Returns by how much it can shrink at most while it decodes. */
        int mostShrink();

        /** Decodes the image whose header was read, shrunk to 1/1, 1/2, 1/4 or 1/8 of its sides, rounded up. */
        void decode(EncodedImage image, Colours colours, int shrink, DecodedPixels target);
    }
}
