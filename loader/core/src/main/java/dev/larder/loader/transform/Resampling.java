package dev.larder.loader.transform;

/**
 * How an image is made larger or smaller: the filters of Pillow, which widen where an image becomes smaller
 * (antialiasing), with the same bytes. Columns come first, then rows; both round to bytes.
 */
public enum Resampling {
    /** The mean of the pixels that fall together. */
    BOX,
    /** A triangle, of two pixels on each side that it is made larger: what training mostly takes. */
    BILINEAR,
    /** A cubic with a = -0.5, of four pixels. */
    BICUBIC,
    /** A sinc of six pixels. */
    LANCZOS
}
