package dev.larder.loader.transform;

/** What a decoded image has of each pixel. */
public enum Colours {
    /** Red, green and blue. Transparency is dropped; CMYK is converted without a profile, as Pillow does. */
    RGB(3),
    /** The luma: as a JPEG file has it, else {@code (19595 R + 38470 G + 7471 B + 2¹⁵) / 2¹⁶}, as Pillow has it. */
    GREY(1);

    private final int channels;

    Colours(int channels) {
        this.channels = channels;
    }

    /** Returns how many bytes a pixel has. */
    public int channels() {
        return channels;
    }
}
