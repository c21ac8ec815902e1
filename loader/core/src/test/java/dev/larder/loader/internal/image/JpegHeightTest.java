package dev.larder.loader.internal.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.loader.Images;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.JpegDecoder;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageTypeSpecifier;
import javax.imageio.ImageWriter;
import javax.imageio.metadata.IIOMetadata;
import javax.imageio.metadata.IIOMetadataNode;
import javax.imageio.stream.ImageOutputStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.NodeList;

/** Compares images that are decoded down to some row with the same rows of the whole image. */
class JpegHeightTest {
    private final ImageDecoder decoder =
            DecodingTest.decoders(JpegDecoder.LIBJPEG_TURBO).jpeg();
    private final ImageDecoder.Session session = decoder.open();
    private final DecodedPixels pixels = new DecodedPixels();

    private byte[] decoded(byte[] jpeg, int shrink, int rows) {
        EncodedImage image = new EncodedImage();
        image.set(new UnsafeBuffer(jpeg));
        session.readHeader(image);
        session.decode(image, Colours.RGB, shrink, Math.min(rows, session.height()), pixels);
        return DecodingTest.bytes(pixels);
    }

    private void requireSameRows(byte[] jpeg, int shrink, int rows) {
        byte[] whole = decoded(jpeg, shrink, Integer.MAX_VALUE);
        int needed = Math.min((rows + shrink - 1) / shrink, pixels.height) * pixels.width * 3;
        byte[] part = decoded(jpeg, shrink, rows);

        assertThat(Arrays.copyOf(part, needed))
                .as("rows=" + rows + " shrink=" + shrink)
                .isEqualTo(Arrays.copyOf(whole, needed));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"photo.jpg", "progressive.jpg", "grey.jpg", "cmyk.jpg", "turned.jpg", "one.jpg", "large.jpg"})
    void theRowsAreThoseOfTheWholeImage(String name) {
        byte[] jpeg = Images.resource(name);
        for (int rows = 1; rows < 250; rows += 3) {
            requireSameRows(jpeg, 1, rows);
            requireSameRows(jpeg, 2, rows);
            requireSameRows(jpeg, 4, rows);
            requireSameRows(jpeg, 8, rows);
        }
    }

    /** Encodes noise with these sampling factors of the luma, and restart markers after so many blocks. */
    private static byte[] encoded(int across, int down, int restart) throws IOException {
        BufferedImage image = new BufferedImage(70, 99, BufferedImage.TYPE_INT_RGB);
        Random random = new Random(7);
        for (int i = 0; i < 70 * 99; i++) {
            image.setRGB(i % 70, i / 70, random.nextInt());
        }
        ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next();
        IIOMetadata metadata = writer.getDefaultImageMetadata(
                ImageTypeSpecifier.createFromRenderedImage(image), writer.getDefaultWriteParam());
        IIOMetadataNode root = (IIOMetadataNode) metadata.getAsTree("javax_imageio_jpeg_image_1.0");
        IIOMetadataNode luma =
                (IIOMetadataNode) root.getElementsByTagName("componentSpec").item(0);
        luma.setAttribute("HsamplingFactor", Integer.toString(across));
        luma.setAttribute("VsamplingFactor", Integer.toString(down));
        if (restart > 0) {
            IIOMetadataNode interval = new IIOMetadataNode("dri");
            interval.setAttribute("interval", Integer.toString(restart));
            NodeList scans = root.getElementsByTagName("sos");
            scans.item(0).getParentNode().insertBefore(interval, scans.item(0));
        }
        metadata.setFromTree("javax_imageio_jpeg_image_1.0", root);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ImageOutputStream out = ImageIO.createImageOutputStream(bytes)) {
            writer.setOutput(out);
            writer.write(new IIOImage(image, null, metadata));
        }
        writer.dispose();
        return bytes.toByteArray();
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 0", "2, 1, 0", "1, 2, 0", "2, 2, 0", "4, 1, 0", "2, 2, 3", "1, 1, 1"})
    void anySamplingOfColoursAndAnyRestartIntervalHasTheSameRows(int across, int down, int restart) throws IOException {
        byte[] jpeg = encoded(across, down, restart);

        for (int rows = 1; rows <= 99; rows++) {
            requireSameRows(jpeg, 1, rows);
            requireSameRows(jpeg, 2, rows);
        }
        assertThat(decoded(jpeg, 1, 50).length < 70 * 99 * 3).isEqualTo(restart == 0);
    }

    @Test
    void rowsBelowTheWantedOnesAreNotDecoded() {
        byte[] jpeg = Images.resource("large.jpg");

        assertThat(decoded(jpeg, 1, 100)).hasSizeLessThan(130 * 320 * 3);
        assertThat(decoded(jpeg, 2, 100)).hasSizeLessThan(65 * 160 * 3);
        assertThat(decoded(jpeg, 1, 235)).hasSize(240 * 320 * 3);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8, 50})
    void aFileThatEndsBelowTheWantedRowsIsRefused(int rows) {
        byte[] jpeg = Images.resource("large.jpg");

        assertThatThrownBy(() -> decoded(Arrays.copyOf(jpeg, jpeg.length * 3 / 4), 1, rows))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("cannot decode image")
                .hasMessageContaining("Premature end of JPEG file");
    }

    @Test
    void aDamagedHeaderHasTheSameEffectAsForTheWholeImage() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        byte[] jpeg = Images.resource("large.jpg");
        for (int round = 0; round < 2000; round++) {
            byte[] damaged = jpeg.clone();
            for (int i = 0; i <= random.nextInt(3); i++) {
                damaged[random.nextInt(700)] = (byte) random.nextInt();
            }
            String what = "seed=" + seed + " round=" + round;
            byte[] whole = decodedOrNothing(damaged, Integer.MAX_VALUE);
            int needed = Math.min(whole.length, 48 * 3 * pixels.width);
            byte[] part = decodedOrNothing(damaged, 48);

            assertThat(part.length == 0).as(what).isEqualTo(whole.length == 0);
            assertThat(Arrays.copyOf(part, needed)).as(what).isEqualTo(Arrays.copyOf(whole, needed));
        }
    }

    private byte[] decodedOrNothing(byte[] jpeg, int rows) {
        try {
            return decoded(jpeg, 1, rows);
        } catch (LarderException refused) {
            return new byte[0];
        }
    }
}
