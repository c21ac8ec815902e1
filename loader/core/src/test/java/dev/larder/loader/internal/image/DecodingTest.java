package dev.larder.loader.internal.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.Images;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.DecodeSize;
import dev.larder.loader.transform.JpegDecoder;
import java.awt.Transparency;
import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.ComponentColorModel;
import java.awt.image.DataBuffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares what decoders make of the images with what Pillow makes of them: see make.py beside these. */
class DecodingTest {
    static ImageDecoders decoders(JpegDecoder wish) {
        assumeThat(wish == JpegDecoder.IMAGEIO || hasTurbo())
                .as("libturbojpeg.so.0 is there")
                .isTrue();
        return ImageDecoders.of(wish, DecodeSize.SCALED);
    }

    static boolean hasTurbo() {
        return !ImageDecoders.of(JpegDecoder.AUTO, DecodeSize.SCALED)
                .jpeg()
                .name()
                .equals("ImageIO");
    }

    static DecodedPixels decode(ImageDecoders decoders, String name, Colours colours, int shrink) {
        EncodedImage image = new EncodedImage();
        image.set(new UnsafeBuffer(Images.resource(name)));
        ImageDecoder.Session session = decoders.forBytes(image).open();
        session.readHeader(image);
        DecodedPixels pixels = new DecodedPixels();
        session.decode(image, colours, shrink, session.height(), pixels);
        return pixels;
    }

    static byte[] bytes(Pixels pixels) {
        byte[] bytes = new byte[pixels.height * pixels.width * pixels.channels];
        int[] row = new int[pixels.width];
        int at = 0;
        for (int y = 0; y < pixels.height; y++) {
            pixels.row(y, 0, pixels.width, row);
            for (int pixel : row) {
                for (int channel = 0; channel < pixels.channels; channel++) {
                    bytes[at++] = (byte) (pixel >> (8 * channel));
                }
            }
        }
        return bytes;
    }

    /** Returns the largest difference of two bytes. */
    static int difference(byte[] made, byte[] expected) {
        assertThat(made).hasSameSizeAs(expected);
        int most = 0;
        for (int i = 0; i < made.length; i++) {
            most = Math.max(most, Math.abs((made[i] & 0xff) - (expected[i] & 0xff)));
        }
        return most;
    }

    @ParameterizedTest
    @ValueSource(strings = {"palette.png", "grey.png", "grey16.png", "alpha.png"})
    void pngComesAsPillowReadsIt(String name) {
        DecodedPixels pixels = decode(decoders(JpegDecoder.IMAGEIO), name, Colours.RGB, 1);

        assertThat(bytes(pixels)).isEqualTo(Images.resource(name + ".rgb"));
    }

    static Stream<Arguments> jpegs() {
        return Stream.of("photo.jpg", "progressive.jpg", "grey.jpg", "turned.jpg", "one.jpg")
                .flatMap(name -> Stream.of(
                        Arguments.of(JpegDecoder.LIBJPEG_TURBO, name, 0), Arguments.of(JpegDecoder.IMAGEIO, name, 3)));
    }

    @ParameterizedTest
    @MethodSource("jpegs")
    void jpegComesAsPillowReadsItWhateverItsExifSays(JpegDecoder decoder, String name, int tolerance) {
        DecodedPixels pixels = decode(decoders(decoder), name, Colours.RGB, 1);

        assertThat(difference(bytes(pixels), Images.resource(name + ".rgb"))).isLessThanOrEqualTo(tolerance);
    }

    @Test
    void inksBecomeColoursAsPillowConvertsThem() {
        DecodedPixels pixels = decode(decoders(JpegDecoder.LIBJPEG_TURBO), "cmyk.jpg", Colours.RGB, 1);

        assertThat(bytes(pixels)).isEqualTo(Images.resource("cmyk.jpg.rgb"));
        assertThatThrownBy(() -> decode(decoders(JpegDecoder.IMAGEIO), "cmyk.jpg", Colours.RGB, 1))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("decoder=ImageIO");
    }

    @Test
    void greyIsTheLuma() {
        assertThat(bytes(decode(decoders(JpegDecoder.IMAGEIO), "photo.png", Colours.GREY, 1)))
                .isEqualTo(Images.resource("photo.png.grey"));
        assertThat(bytes(decode(decoders(JpegDecoder.LIBJPEG_TURBO), "photo.jpg", Colours.GREY, 1)))
                .isEqualTo(Images.resource("photo.jpg.grey"));
    }

    @ParameterizedTest
    @CsvSource({"1, 240, 320", "2, 120, 160", "4, 60, 80", "8, 30, 40"})
    void jpegShrinksWhileItIsDecoded(int shrink, int height, int width) {
        DecodedPixels pixels = decode(decoders(JpegDecoder.LIBJPEG_TURBO), "large.jpg", Colours.RGB, shrink);

        assertThat(pixels.height).isEqualTo(height);
        assertThat(pixels.width).isEqualTo(width);
        byte[] whole = bytes(decode(decoders(JpegDecoder.LIBJPEG_TURBO), "large.jpg", Colours.RGB, 1));
        byte[] shrunk = bytes(pixels);
        double sum = 0;
        for (int i = 0; i < shrunk.length; i++) {
            sum += Math.abs(
                    (shrunk[i] & 0xff) - mean(whole, i / 3 / width * shrink, i / 3 % width * shrink, i % 3, shrink));
        }
        assertThat(sum / shrunk.length).isLessThan(3); // of 255; where it is the mean of another place it is above 10
    }

    /** Returns the mean of a square of the image of 320 pixels a row. */
    private static double mean(byte[] image, int y, int x, int channel, int side) {
        int sum = 0;
        for (int i = 0; i < side * side; i++) {
            sum += image[((y + i / side) * 320 + x + i % side) * 3 + channel] & 0xff;
        }
        return (double) sum / (side * side);
    }

    /** Decodes two images one after the other into the same pixels, as a thread of a loader does. */
    private static byte[] decodeAfterAnother(byte[] jpeg) {
        ImageDecoder.Session session =
                decoders(JpegDecoder.LIBJPEG_TURBO).jpeg().open();
        DecodedPixels pixels = new DecodedPixels();
        for (byte[] content : List.of(Images.resource("photo.jpg"), jpeg)) {
            EncodedImage image = new EncodedImage();
            image.set(new UnsafeBuffer(content));
            session.readHeader(image);
            session.decode(image, Colours.RGB, 1, session.height(), pixels);
        }
        return bytes(pixels);
    }

    private static int indexOf(byte[] bytes, int marker, int from) {
        for (int i = from; i < bytes.length - 1; i++) {
            if ((bytes[i] & 0xff) == 0xff && (bytes[i + 1] & 0xff) == marker) {
                return i;
            }
        }
        return -1;
    }

    private static byte[] inserted(byte[] bytes, int at, int... more) {
        byte[] longer = new byte[bytes.length + more.length];
        System.arraycopy(bytes, 0, longer, 0, at);
        System.arraycopy(bytes, at, longer, at + more.length, bytes.length - at);
        for (int i = 0; i < more.length; i++) {
            longer[at + i] = (byte) more[i];
        }
        return longer;
    }

    @Test
    void bytesTooManyAreSkippedAsOthersDo() {
        byte[] jpeg = Images.resource("progressive.jpg");
        int secondScan = indexOf(jpeg, 0xda, indexOf(jpeg, 0xda, 0) + 2);

        assertThat(decodeAfterAnother(inserted(jpeg, secondScan, 1, 2, 3)))
                .isEqualTo(Images.resource("progressive.jpg.rgb"));
    }

    @Test
    void anErrorAfterAWarningIsAnErrorAndNeverAnotherImagesPixels() {
        byte[] jpeg = Images.resource("progressive.jpg");
        int secondScan = indexOf(jpeg, 0xda, indexOf(jpeg, 0xda, 0) + 2);
        byte[] broken = inserted(jpeg, secondScan, 1, 2, 3);
        int lastScan = secondScan;
        for (int next = secondScan; next >= 0; next = indexOf(broken, 0xda, next + 2)) {
            lastScan = next;
        }
        broken[lastScan + 5 + 2 * broken[lastScan + 4]] = 63; // begins behind its end
        broken[lastScan + 6 + 2 * broken[lastScan + 4]] = 1;

        assertThatThrownBy(() -> decodeAfterAnother(broken))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("cannot decode image");
    }

    @Test
    void aWarningDoesNotHideThatAFileEndsEarly() {
        byte[] jpeg = Images.resource("photo.jpg");
        byte[] cut = Arrays.copyOf(jpeg, indexOf(jpeg, 0xda, 0) + (jpeg.length - indexOf(jpeg, 0xda, 0)) / 2);
        byte[] thumbnail = inserted(cut, 2, 0xff, 0xe1, 0, 6, 0xff, 0xd8, 0xff, 0xd9); // a segment with an end in it

        for (byte[] broken : List.of(thumbnail, inserted(thumbnail, indexOf(thumbnail, 0xdb, 0), 1, 2, 3))) {
            assertThatThrownBy(() -> decodeAfterAnother(broken))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("cannot decode image");
        }
    }

    private static byte[] encoded(BufferedImage image, String format) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        assertThat(ImageIO.write(image, format, bytes)).as(format).isTrue();
        return bytes.toByteArray();
    }

    private static byte[] decodeOther(byte[] encoded) {
        EncodedImage image = new EncodedImage();
        image.set(new UnsafeBuffer(encoded));
        ImageDecoder.Session session = new ImageIoDecoder().open();
        session.readHeader(image);
        DecodedPixels pixels = new DecodedPixels();
        session.decode(image, Colours.RGB, 1, session.height(), pixels);
        return bytes(pixels);
    }

    @ParameterizedTest
    @ValueSource(ints = {BufferedImage.TYPE_USHORT_555_RGB, BufferedImage.TYPE_USHORT_565_RGB})
    void samplesOfFewBitsAreScaledToBytes(int type) throws IOException {
        BufferedImage image = new BufferedImage(2, 1, type);
        image.setRGB(0, 0, 0xff_ff_ff);
        image.setRGB(1, 0, 0xff_80_00);

        byte[] pixels = decodeOther(encoded(image, "bmp"));

        assertThat(difference(pixels, new byte[] {-1, -1, -1, -1, (byte) 0x80, 0}))
                .isLessThanOrEqualTo(4);
        assertThat(pixels).startsWith(-1, -1, -1, -1).endsWith(0);
    }

    @ParameterizedTest
    @ValueSource(ints = {DataBuffer.TYPE_FLOAT, DataBuffer.TYPE_INT})
    void samplesThatAreNoBytesAndNoneOf16BitsAreRefused(int type) throws IOException {
        ComponentColorModel grey = new ComponentColorModel(
                ColorSpace.getInstance(ColorSpace.CS_GRAY), false, false, Transparency.OPAQUE, type);
        byte[] tiff = encoded(new BufferedImage(grey, grey.createCompatibleWritableRaster(2, 2), false, null), "tiff");

        assertThatThrownBy(() -> decodeOther(tiff))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("its samples are neither bytes nor");
    }

    @ParameterizedTest
    @EnumSource(
            value = JpegDecoder.class,
            names = {"LIBJPEG_TURBO", "IMAGEIO"})
    void aFileThatEndsEarlyOrIsNoImageIsRefusedWithTheReason(JpegDecoder decoder) {
        ImageDecoders decoders = decoders(decoder);

        for (String name : new String[] {"truncated.jpg", "none.jpg"}) {
            assertThatThrownBy(() -> decode(decoders, name, Colours.RGB, 1))
                    .as(name)
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining("cannot decode image: bytes=")
                    .hasMessageContaining("reason=");
        }
    }

    @Test
    void withoutTheLibraryImageIoDecodesUnlessItWasAskedFor() {
        TurboJpeg missing = TurboJpeg.load("libnothing.so.0");

        assertThat(missing).isNull();
        assertThat(ImageDecoders.of(JpegDecoder.AUTO, DecodeSize.FULL, missing).description())
                .startsWith("ImageIO ");
        assertThatThrownBy(() -> ImageDecoders.of(JpegDecoder.LIBJPEG_TURBO, DecodeSize.FULL, missing))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("libturbojpeg0");
    }

    @Test
    void aDescriptionTellsDecodersApartByWhatTheyMake() {
        String first = decoders(JpegDecoder.LIBJPEG_TURBO).description();

        assertThat(first).matches("libturbojpeg\\S* [0-9a-f]{8}");
        assertThat(decoders(JpegDecoder.LIBJPEG_TURBO).description()).isEqualTo(first);
        assertThat(decoders(JpegDecoder.IMAGEIO).description().substring(8))
                .isNotEqualTo(first.substring(first.length() - 8));
    }
}
