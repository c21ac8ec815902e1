package dev.larder.loader.internal.image;

import org.agrona.concurrent.UnsafeBuffer;

/** Converts CMYK. */
final class Inks {
    private Inks() {}

    /** Converts inverted CMYK, as in JPEG files, to RGB with the same bytes as Pillow, which ignores profiles. */
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

    /** Returns a colour component from its inverted ink and the light (of 255) that black lets through. */
    private static int scaled(int inverted, int light) {
        int product = (255 - inverted) * light + 128;
        return Math.max(0, light - (((product >> 8) + product) >> 8));
    }
}
