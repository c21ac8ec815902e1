package dev.larder.loader.internal.image;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.DecodeSize;
import dev.larder.loader.transform.JpegDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** The decoders: one for JPEG, and ImageIO for other formats. */
record ImageDecoders(ImageDecoder jpeg, ImageDecoder others, String description) {
    /** The property with the path of the library if it is not the system's; {@code none} disables it. */
    private static final String PROPERTY = "larder.turbojpeg";

    private static final String PROBE = "probe.jpg";

    /** Finds the libraries. */
    static ImageDecoders of(JpegDecoder wish, DecodeSize size) {
        return of(wish, size, wish == JpegDecoder.IMAGEIO ? null : Found.TURBO);
    }

    static ImageDecoders of(JpegDecoder wish, DecodeSize size, @Nullable TurboJpeg turbo) {
        ImageDecoder imageIo = new ImageIoDecoder();
        if (turbo == null && wish == JpegDecoder.LIBJPEG_TURBO) {
            throw Failure.of(ErrorCode.NOT_FOUND, "no libjpeg-turbo to decode images")
                    .with("library", library())
                    .remedy("install it (Debian: apt-get install libturbojpeg0), or let decode(…) choose another");
        }
        ImageDecoder jpeg = turbo == null ? imageIo : turbo;
        return new ImageDecoders(jpeg, imageIo, jpeg.name() + " " + fingerprint(jpeg, size));
    }

    private static String library() {
        return System.getProperty(PROPERTY, TurboJpeg.LIBRARY);
    }

    /**
     * Returns 8 digits that differ if a decoder computes other pixels at the sizes in use. A version is not enough, and some libraries
     * report none.
     */
    private static String fingerprint(ImageDecoder decoder, DecodeSize size) {
        EncodedImage image = new EncodedImage();
        image.set(new UnsafeBuffer(probe()));
        DecodedPixels pixels = new DecodedPixels();
        ImageDecoder.Session session = decoder.open();
        CRC32C crc = new CRC32C();
        int most = size == DecodeSize.FULL ? 1 : session.mostShrink();
        for (int shrink = 1; shrink <= most; shrink *= 2) {
            session.readHeader(image);
            session.decode(image, Colours.RGB, shrink, session.height(), pixels);
            int[] row = new int[pixels.width];
            for (int y = 0; y < pixels.height; y++) {
                pixels.row(y, 0, pixels.width, row);
                for (int pixel : row) {
                    crc.update(pixel);
                    crc.update(pixel >> 8);
                    crc.update(pixel >> 16);
                }
            }
        }
        return String.format("%08x", crc.getValue());
    }

    private static byte[] probe() {
        try (InputStream probe = ImageDecoders.class.getResourceAsStream(PROBE)) {
            return Objects.requireNonNull(probe, PROBE).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    ImageDecoder forBytes(EncodedImage image) {
        return image.isJpeg() ? jpeg : others;
    }

    /** Loads the library once. */
    private static final class Found {
        static final @Nullable TurboJpeg TURBO = find();

        private static @Nullable TurboJpeg find() {
            TurboJpeg found = library().equals("none") ? null : TurboJpeg.load(library());
            if (found == null) {
                Logs.of(ImageDecoders.class)
                        .warn(
                                "no libjpeg-turbo, JPEG is decoded by ImageIO, at a third of the speed: library={}; install it"
                                        + " (Debian: apt-get install libturbojpeg0)",
                                library());
            }
            return found;
        }
    }
}
