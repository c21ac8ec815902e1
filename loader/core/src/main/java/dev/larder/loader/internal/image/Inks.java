package dev.larder.loader.internal.image;

import org.agrona.concurrent.UnsafeBuffer;

/** Colours that are printed. */
final class Inks {
    private Inks() {}

    /** Makes RGB of CMYK as JPEG files have it, inverted, in the bytes that Pillow makes of it: it knows no profile. */
    static void toRgb(DecodedPixels pixels) {
        UnsafeBuffer memory = pixels.memory();
        int count = pixels.width * pixels.height;
        for (int i = 0; i < count; i++) {
            int inks = memory.getInt(i * Integer.BYTES);
            int light = inks >>> 24;
            memory.putInt(
                    i * Integer.BYTES,
                    scaled(inks & 0xff, light)
                            | (scaled((inks >> 8) & 0xff, light) << 8)
                            | (scaled((inks >> 16) & 0xff, light) << 16));
        }
    }

    /** Returns how much of a colour is left where {@code light} of 255 is, for what the file says of its ink. */
    private static int scaled(int inverted, int light) {
        int product = (255 - inverted) * light + 128;
        return Math.max(0, light - (((product >> 8) + product) >> 8));
    }
}
