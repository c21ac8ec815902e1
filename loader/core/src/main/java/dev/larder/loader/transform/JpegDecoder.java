package dev.larder.loader.transform;

/** The JPEG decoder. Decoders may differ in the last bit of a pixel, so a loader's state contains its decoder. */
public enum JpegDecoder {
    /** The system's libjpeg-turbo if it is installed, otherwise ImageIO. */
    AUTO,
    /**
     * The system's libjpeg-turbo, {@code libturbojpeg.so.0}, or the path in the property {@code larder.turbojpeg};
     * fails if there is none.
     */
    LIBJPEG_TURBO,
    /** The JDK's ImageIO: always available, at about a third of the speed. It cannot decode CMYK. */
    IMAGEIO
}
