package dev.larder.loader.transform;

/** What decodes JPEG. Two may differ in the last bit of a pixel, so a loader's state names it. */
public enum JpegDecoder {
    /** The system's libjpeg-turbo where it is, else ImageIO. */
    AUTO,
    /**
     * The system's libjpeg-turbo, {@code libturbojpeg.so.0}, or the path in the property {@code larder.turbojpeg};
     * fails where there is none.
     */
    LIBJPEG_TURBO,
    /** The JDK's ImageIO: everywhere, at about a third of the speed. It cannot decode CMYK. */
    IMAGEIO
}
