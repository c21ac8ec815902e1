package dev.larder.loader.internal.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.Images;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.DecodeSize;
import dev.larder.loader.transform.JpegDecoder;
import dev.larder.loader.transform.Resampling;
import dev.larder.loader.transform.SampleRandom;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares resized images with Pillow's, byte by byte: see make.py beside these. */
class ResizingTest {
    private static final List<Resampling> FILTERS = List.of(Resampling.values());
    private static final ImageDecoders DECODERS = ImageDecoders.of(JpegDecoder.IMAGEIO, DecodeSize.FULL);

    private final Frame frame = new Frame();

    private static DecodedPixels photo(Colours colours) {
        return DecodingTest.decode(DECODERS, "photo.png", colours, 1);
    }

    private byte[] resized(Pixels from, Resampling filter, int height, int width) {
        byte[] made = new byte[height * width * from.channels];
        new Resizer().run(from, frame, filter, height, width, made, 0);
        return made;
    }

    @ParameterizedTest
    @EnumSource(Resampling.class)
    void everyFilterMakesTheBytesOfPillow(Resampling filter) {
        for (int[] size : new int[][] {{13, 17}, {100, 90}, {40, 24}, {5, 70}}) {
            String name =
                    "photo.png." + size[0] + "x" + size[1] + "." + filter.name().toLowerCase(Locale.ROOT);
            frame.set(0, 0, 64, 48, size[1], size[0]);

            assertThat(resized(photo(Colours.RGB), filter, size[0], size[1]))
                    .as(name)
                    .isEqualTo(Images.resource(name));
        }
    }

    @Test
    void greyHasTheSameWeights() {
        frame.set(0, 0, 64, 48, 17, 13);

        assertThat(resized(photo(Colours.GREY), Resampling.BILINEAR, 13, 17))
                .isEqualTo(Images.resource("photo.png.grey.13x17.bilinear"));
    }

    @Test
    void aPartIsResizedAsIfItHadBeenCutOutFirst() {
        frame.set(5, 3, 41, 40, 16, 20);

        assertThat(resized(photo(Colours.RGB), Resampling.BILINEAR, 20, 16))
                .isEqualTo(Images.resource("photo.png.cut"));
    }

    @Test
    void aWindowOfTheResultIsThatOfTheWhole() {
        byte[] whole = Images.resource("photo.png.100x90.bilinear");
        frame.set(0, 0, 64, 48, 90, 100);
        frame.x = 30;
        frame.y = 71;

        byte[] window = resized(photo(Colours.RGB), Resampling.BILINEAR, 29, 8);

        for (int y = 0; y < 29; y++) {
            for (int i = 0; i < 8 * 3; i++) {
                assertThat(window[y * 24 + i]).isEqualTo(whole[((71 + y) * 90 + 30) * 3 + i]);
            }
        }
    }

    @Test
    void oneResizerServesImagesOfAllSizesAndMakesTheSameAsANewOne() {
        Random random = new Random(5);
        Resizer resizer = new Resizer();
        for (int round = 0; round < 300; round++) {
            int width = 1 + random.nextInt(70);
            int height = 1 + random.nextInt(70);
            byte[] image = new byte[width * height * 3];
            random.nextBytes(image);
            BytePixels pixels = new BytePixels();
            pixels.begin(image, 0, height, width, 3);
            int newWidth = 1 + random.nextInt(60);
            int newHeight = 1 + random.nextInt(60);
            Resampling filter = FILTERS.get(random.nextInt(FILTERS.size()));
            frame.set(0, 0, width, height, newWidth, newHeight);
            byte[] made = new byte[newWidth * newHeight * 3];
            resizer.run(pixels, frame, filter, newHeight, newWidth, made, 0);

            assertThat(made).as("round " + round).isEqualTo(resized(pixels, filter, newHeight, newWidth));
            assertThat(made).as("round " + round).isEqualTo(plain(image, height, width, newHeight, newWidth, filter));
        }
    }

    @Test
    void noFilterMakesMoreThanAByteOfManyThousandPixels() {
        int length = 20_116; // the weights of BOX are 208.506, rounded up to 209
        byte[] red = new byte[length * 3];
        for (int i = 0; i < length; i++) {
            red[i * 3] = (byte) 255;
        }
        BytePixels pixels = new BytePixels();
        for (int width : new int[] {1, length}) {
            int height = length / width;
            pixels.begin(red, 0, height, width, 3);
            frame.set(0, 0, width, height, 1, 1);

            assertThat(FILTERS)
                    .allSatisfy(
                            filter -> assertThat(resized(pixels, filter, 1, 1)).containsExactly(255, 0, 0));
        }
    }

    /** Does the same with one sum for each channel. */
    private static byte[] plain(byte[] image, int height, int width, int newHeight, int newWidth, Resampling filter) {
        FilterWeights across = new FilterWeights();
        FilterWeights down = new FilterWeights();
        across.compute(filter, 0, width, 0, width, newWidth, 0, newWidth);
        down.compute(filter, 0, height, 0, height, newHeight, 0, newHeight);
        byte[] made = new byte[newWidth * newHeight * 3];
        for (int y = 0; y < newHeight; y++) {
            for (int x = 0; x < newWidth * 3; x++) {
                long sum = 1 << 21;
                for (int i = 0; i < down.taps; i++) {
                    long inner = 1 << 21;
                    for (int j = 0; j < across.taps; j++) {
                        int at = ((down.first[y] + i) * width + across.first[x / 3] + j) * 3 + x % 3;
                        inner += (long) (image[at] & 0xff) * across.byTap[j][x / 3];
                    }
                    sum += Math.max(0, Math.min(255, inner >> 22)) * down.byTap[i][y];
                }
                made[y * newWidth * 3 + x] = (byte) Math.max(0, Math.min(255, sum >> 22));
            }
        }
        return made;
    }

    @ParameterizedTest
    @CsvSource({"brightness, 1.25", "contrast, 0.75", "saturation, 1.5", "hue, 25"})
    void coloursChangeAsPillowChangesThem(String what, float factor) {
        byte[] image = DecodingTest.bytes(photo(Colours.RGB));
        float bound = Math.abs(factor - 1);
        float drawn = factor > 1 ? 1 - 0x1.0p-24f : 0; // the end of the bounds
        Step.ColourJitter step = switch (what) {
            case "brightness" -> new Step.ColourJitter(bound, 0, 0, 0);
            case "contrast" -> new Step.ColourJitter(0, bound, 0, 0);
            case "saturation" -> new Step.ColourJitter(0, 0, bound, 0);
            default -> new Step.ColourJitter(0, 0, 0, 25.5f / 255);
        };

        new Jitter().run(step, image, 0, image.length / 3, always(drawn));

        assertThat(DecodingTest.difference(image, Images.resource("photo.png." + what)))
                .isLessThanOrEqualTo(1);
    }

    private static SampleRandom always(float number) {
        return new SampleRandom() {
            @Override
            public long nextLong() {
                return 0;
            }

            @Override
            public int nextInt(int bound) {
                return 0;
            }

            @Override
            public float nextFloat() {
                return number;
            }

            @Override
            public double nextDouble() {
                return number;
            }

            @Override
            public double nextGaussian() {
                return 0;
            }
        };
    }

    @Test
    void partsStayWithinTheImageAndKeepTheirBounds() {
        Framing framing = Framing.of(new Transform().randomResizedCrop(24, 32).steps());
        Random random = new Random(3);
        SampleRandom numbers = new SampleRandom() {
            @Override
            public long nextLong() {
                return random.nextLong();
            }

            @Override
            public int nextInt(int bound) {
                return random.nextInt(bound);
            }

            @Override
            public float nextFloat() {
                return random.nextFloat();
            }

            @Override
            public double nextDouble() {
                return random.nextDouble();
            }

            @Override
            public double nextGaussian() {
                return random.nextGaussian();
            }
        };
        for (int round = 0; round < 2000; round++) {
            int height = 1 + random.nextInt(300);
            int width = 1 + random.nextInt(300);
            framing.frame(height, width, numbers, frame);

            assertThat(frame.left).isGreaterThanOrEqualTo(0);
            assertThat(frame.top).isGreaterThanOrEqualTo(0);
            assertThat(frame.right).isBetween(frame.left + 1, (double) width);
            assertThat(frame.bottom).isBetween(frame.top + 1, (double) height);
        }
    }

    @Test
    void aLieAboutTheSizeIsFoundBeforeMemoryIsTaken() {
        ImageMaker maker = ImageMaker.of(
                new Step.Decode(Colours.RGB, DecodeSize.FULL, 1 << 20, JpegDecoder.IMAGEIO),
                new Transform().resize(8, 8).steps());
        ImageMaker.Room room = maker.newRoom();

        for (String name : new String[] {"liar.jpg", "bomb.png"}) {
            org.assertj.core.api.Assertions.assertThatThrownBy(() ->
                            maker.make(new UnsafeBuffer(Images.resource(name)), always(0), new byte[192], 0, room))
                    .hasMessageContaining("image has too many pixels")
                    .hasMessageContaining("maxPixels=1048576");
        }
    }
}
