package dev.larder.loader.transform;

/** The channels of a decoded image. */
public enum Colours {
    /** Red, green and blue. Transparency is dropped; CMYK is converted without a profile, as Pillow does. */
    RGB(3),
    /** The luma: of a JPEG file, the stored value; otherwise {@code (19595 R + 38470 G + 7471 B + 2¹⁵) / 2¹⁶}, as in Pillow. */
    GREY(1);

    private final int channels;

    Colours(int channels) {
        this.channels = channels;
    }

    /** Returns the number of bytes per pixel. */
    public int channels() {
        return channels;
    }
}
