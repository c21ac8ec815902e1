package dev.larder.loader.internal.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.Images;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.JpegDecoder;
import java.util.stream.Stream;
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
        return ImageDecoders.of(wish);
    }

    static boolean hasTurbo() {
        return !ImageDecoders.of(JpegDecoder.AUTO).jpeg().name().equals("ImageIO");
    }

    static DecodedPixels decode(ImageDecoders decoders, String name, Colours colours, int shrink) {
        EncodedImage image = new EncodedImage();
        image.set(new UnsafeBuffer(Images.resource(name)));
        ImageDecoder.Session session = decoders.forBytes(image).open();
        session.readHeader(image);
        DecodedPixels pixels = new DecodedPixels();
        session.decode(image, colours, shrink, pixels);
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
        assertThat(ImageDecoders.of(JpegDecoder.AUTO, missing).description()).startsWith("ImageIO ");
        assertThatThrownBy(() -> ImageDecoders.of(JpegDecoder.LIBJPEG_TURBO, missing))
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
