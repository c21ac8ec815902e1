package dev.larder.loader.internal.image;

import dev.larder.error.LarderException;
import dev.larder.loader.transform.Colours;
import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.IndexColorModel;
import java.awt.image.Raster;
import java.awt.image.SinglePixelPackedSampleModel;
import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Objects;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.ImageInputStreamImpl;
import org.jspecify.annotations.Nullable;

/**
 * Decodes PNG, GIF, BMP, JPEG and all other formats of the JDK's ImageIO; it is slower, and allocates objects for every image.
 */
final class ImageIoDecoder implements ImageDecoder {
    @Override
    public String name() {
        return "ImageIO";
    }

    @Override
    public Session open() {
        return new ImageIoSession();
    }

    private static final class ImageIoSession implements Session {
        private static final String NAME = "ImageIO";

        private int width;
        private int height;

        /** The reader of the last header. */
        private @Nullable ImageReader reader;

        @Override
        public void readHeader(EncodedImage image) {
            close();
            boolean read = false;
            try {
                ImageReader opened = open(image);
                reader = opened;
                width = opened.getWidth(0);
                height = opened.getHeight(0);
                read = true;
            } catch (IOException | RuntimeException e) { // readers throw many kinds of exceptions
                throw failure(image, e);
            } finally {
                if (!read) {
                    close();
                }
            }
        }

        private static ImageReader open(EncodedImage image) throws IOException {
            ImageInputStream stream = new EncodedStream(image);
            Iterator<ImageReader> readers = ImageIO.getImageReaders(stream);
            if (!readers.hasNext()) {
                throw new IOException("not an image of a kind that it reads");
            }
            ImageReader reader = readers.next();
            reader.setInput(stream, true, true);
            return reader;
        }

        private void close() {
            if (reader != null) {
                reader.dispose();
                reader = null;
            }
        }

        private static LarderException failure(EncodedImage image, Exception e) {
            return image.failure(NAME, e.toString()).cause(e).exception();
        }

        @Override
        public int width() {
            return width;
        }

        @Override
        public int height() {
            return height;
        }

        @Override
        public int mostShrink() {
            return 1;
        }

        @Override
        public void decode(EncodedImage image, Colours colours, int shrink, int rows, DecodedPixels target) {
            try {
                Warnings warnings = new Warnings();
                ImageReader opened = Objects.requireNonNull(reader, "no header was read");
                opened.addIIOReadWarningListener(warnings);
                BufferedImage decoded = opened.read(0);
                if (warnings.truncated != null) {
                    throw new IOException(warnings.truncated);
                }
                requireLight(decoded);
                requireSamples(decoded);
                write(decoded, colours, target);
            } catch (IOException | RuntimeException e) {
                throw failure(image, e);
            } finally {
                close();
            }
        }

        /** Reads the bytes in place. */
        private static final class EncodedStream extends ImageInputStreamImpl {
            private final EncodedImage image;

            EncodedStream(EncodedImage image) {
                this.image = image;
            }

            @Override
            public int read() {
                bitOffset = 0;
                return streamPos < image.length() ? image.at((int) streamPos++) : -1;
            }

            @Override
            public int read(byte[] target, int offset, int length) {
                Objects.checkFromIndexSize(offset, length, target.length);
                bitOffset = 0;
                int count = (int) Math.min(length, image.length() - streamPos);
                if (count <= 0) {
                    return length == 0 ? 0 : -1;
                }
                image.copy((int) streamPos, target, offset, count);
                streamPos += count;
                return count;
            }

            @Override
            public long length() {
                return image.length();
            }
        }

        /** Detects a truncated file, for which the JDK's JPEG reader has only a warning. */
        private static final class Warnings implements javax.imageio.event.IIOReadWarningListener {
            @Nullable
            String truncated;

            @Override
            public void warningOccurred(ImageReader source, String warning) {
                if (warning.contains("remature end of input") || warning.contains("Truncated File")) {
                    truncated = warning;
                }
            }
        }

        /** Refuses CMYK colours: the meaning of their numbers differs between files. */
        private static void requireLight(BufferedImage image) throws IOException {
            int space = image.getColorModel().getColorSpace().getType();
            if (space != ColorSpace.TYPE_RGB && space != ColorSpace.TYPE_GRAY) {
                throw new IOException("its colours are neither RGB nor grey; libturbojpeg decodes CMYK");
            }
        }

        /** Refuses samples that are not unsigned integers over the full range of their bits. */
        private static void requireSamples(BufferedImage image) throws IOException {
            int type = image.getRaster().getTransferType();
            int[] bits = image.getSampleModel().getSampleSize();
            boolean palette = image.getColorModel() instanceof IndexColorModel;
            boolean packed = image.getSampleModel() instanceof SinglePixelPackedSampleModel;
            boolean unsigned = type == DataBuffer.TYPE_BYTE
                    || type == DataBuffer.TYPE_USHORT
                    || (type == DataBuffer.TYPE_INT && packed);
            if (!unsigned
                    || (!palette && !Arrays.equals(bits, image.getColorModel().getComponentSize()))) {
                throw new IOException("its samples are neither bytes nor unsigned numbers of at most 16 bits: bits="
                        + Arrays.toString(bits) + " dataType=" + type);
            }
        }

        /** Copies the stored samples without profiles and gamma; of wider samples, the upper 8 bits. */
        private static void write(BufferedImage image, Colours colours, DecodedPixels target) {
            Raster raster = image.getRaster();
            int width = raster.getWidth();
            int bands = raster.getNumBands();
            int[] bits = raster.getSampleModel().getSampleSize();
            int green = bands < 3 ? 0 : 1;
            int blue = bands < 3 ? 0 : 2;
            IndexColorModel palette = image.getColorModel() instanceof IndexColorModel indexed ? indexed : null;
            target.begin(raster.getHeight(), width, colours.channels());
            int[] samples = new int[width * bands];
            for (int y = 0; y < raster.getHeight(); y++) {
                raster.getPixels(0, y, width, 1, samples);
                for (int x = 0; x < width; x++) {
                    int at = x * bands;
                    int pixel = palette != null
                            ? swapped(palette.getRGB(samples[at]))
                            : scaled(samples[at], bits[0])
                                    | (scaled(samples[at + green], bits[green]) << 8)
                                    | (scaled(samples[at + blue], bits[blue]) << 16);
                    target.put(y * width + x, colours == Colours.GREY ? DecodedPixels.luma(pixel) : pixel);
                }
            }
        }

        /** Converts a sample to 8 bits. */
        private static int scaled(int sample, int bits) {
            return bits == 8 ? sample : bits > 8 ? sample >> (bits - 8) : sample * 255 / ((1 << bits) - 1);
        }

        private static int swapped(int argb) {
            return ((argb >> 16) & 0xff) | (argb & 0xff00) | ((argb & 0xff) << 16);
        }
    }
}
