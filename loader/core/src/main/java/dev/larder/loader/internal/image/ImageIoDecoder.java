package dev.larder.loader.internal.image;

import dev.larder.error.LarderException;
import dev.larder.loader.transform.Colours;
import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.IndexColorModel;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Iterator;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.MemoryCacheImageInputStream;
import org.jspecify.annotations.Nullable;

/**
 * PNG, GIF, BMP and whatever else the JDK's ImageIO reads, JPEG too; at its speed, and with objects of its own for
 * every image.
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

        @Override
        public void readHeader(EncodedImage image) {
            withReader(image, reader -> {
                width = reader.getWidth(0);
                height = reader.getHeight(0);
            });
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
        public void decode(EncodedImage image, Colours colours, int shrink, DecodedPixels target) {
            withReader(image, reader -> {
                Warnings warnings = new Warnings();
                reader.addIIOReadWarningListener(warnings);
                BufferedImage decoded = reader.read(0);
                if (warnings.truncated != null) {
                    throw new IOException(warnings.truncated);
                }
                requireLight(decoded);
                write(decoded, colours, target);
            });
        }

        /** Notes what the JDK's JPEG reader only warns of: a file that ends early. */
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

        /** What is done with a reader. */
        @FunctionalInterface
        private interface Use {
            void with(ImageReader reader) throws IOException;
        }

        private static void withReader(EncodedImage image, Use use) {
            try (ImageInputStream stream = new MemoryCacheImageInputStream(new ByteArrayInputStream(image.toArray()))) {
                Iterator<ImageReader> readers = ImageIO.getImageReaders(stream);
                if (!readers.hasNext()) {
                    throw image.failure(NAME, "not an image of a kind that it reads")
                            .remedy("remove the file, or leave it out: FailurePolicy.skip(…)");
                }
                ImageReader reader = readers.next();
                try {
                    reader.setInput(stream, true, true);
                    use.with(reader);
                } finally {
                    reader.dispose();
                }
            } catch (LarderException known) {
                throw known;
            } catch (IOException | RuntimeException e) { // readers throw what they come across
                throw image.failure(NAME, String.valueOf(e.getMessage()))
                        .cause(e)
                        .remedy("remove the file, or leave it out: FailurePolicy.skip(…)");
            }
        }

        /** Refuses colours that are printed: what their numbers mean differs from file to file. */
        private static void requireLight(BufferedImage image) throws IOException {
            int space = image.getColorModel().getColorSpace().getType();
            if (space != ColorSpace.TYPE_RGB && space != ColorSpace.TYPE_GRAY) {
                throw new IOException("its colours are neither RGB nor grey; libturbojpeg decodes CMYK");
            }
        }

        /** Takes the samples as they are stored, with no look at profiles and gamma. */
        private static void write(BufferedImage image, Colours colours, DecodedPixels target) {
            Raster raster = image.getRaster();
            int width = raster.getWidth();
            int bands = raster.getNumBands();
            int shift = raster.getDataBuffer().getDataType() == DataBuffer.TYPE_USHORT ? Byte.SIZE : 0;
            IndexColorModel palette = image.getColorModel() instanceof IndexColorModel indexed ? indexed : null;
            target.begin(raster.getHeight(), width, colours.channels());
            int[] samples = new int[width * bands];
            for (int y = 0; y < raster.getHeight(); y++) {
                raster.getPixels(0, y, width, 1, samples);
                for (int x = 0; x < width; x++) {
                    int at = x * bands;
                    int pixel = palette != null
                            ? swapped(palette.getRGB(samples[at]))
                            : bands < 3
                                    ? (samples[at] >> shift) * 0x1_0101
                                    : (samples[at] >> shift)
                                            | ((samples[at + 1] >> shift) << 8)
                                            | ((samples[at + 2] >> shift) << 16);
                    target.put(y * width + x, colours == Colours.GREY ? DecodedPixels.luma(pixel) : pixel);
                }
            }
        }

        private static int swapped(int argb) {
            return ((argb >> 16) & 0xff) | (argb & 0xff00) | ((argb & 0xff) << 16);
        }
    }
}
