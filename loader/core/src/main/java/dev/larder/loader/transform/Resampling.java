package dev.larder.loader.transform;

/**
 * The filter that resizes an image. The filters and their bytes are those of Pillow: they widen if an image becomes
 * smaller (antialiasing). Columns are resized first, then rows; both round to bytes.
 */
public enum Resampling {
    /** The mean of the pixels that are merged. */
    BOX,
    /** A triangle over two pixels per axis when enlarging. Most training uses this filter. */
    BILINEAR,
    /** A cubic over four pixels, with a = -0.5. */
    BICUBIC,
    /** A sinc over six pixels. */
    LANCZOS
}
