package dev.larder.loader.transform;

/** The size at which JPEG images are decoded before they are resized. */
public enum DecodeSize {
    /** Decodes every pixel: with libjpeg-turbo, the bytes equal those of Pillow and of torchvision with Pillow images. */
    FULL,
    /**
     * Decodes at 1/2, 1/4 or 1/8 of the size if the result is at most that large. This is faster for large photos, but
     * pixels differ from those of {@link #FULL}: usually by a few steps of 255, at sharp edges by far more.
     */
    SCALED
}
