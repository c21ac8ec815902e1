package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.DecodeSize;
import dev.larder.loader.transform.JpegDecoder;
import dev.larder.loader.transform.Resampling;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ImageLoaderTest {
    private static final Transform AUGMENTED = new Transform()
            .randomResizedCrop(24, 32)
            .randomFlip(0.5f)
            .colourJitter(0.4f, 0.4f, 0.4f, 0.1f)
            .toFloat()
            .normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
            .channelsFirst();

    private final List<String> names = new ArrayList<>();
    private Images images = Images.of(Images.GOOD);

    private LoaderBuilder augmented() {
        return Loader.over(images.dataset)
                .fields(Field.images("image").transform(AUGMENTED), Field.rows("labels"))
                .shuffle(3)
                .batchSize(4);
    }

    private void reopen(List<String> files) {
        images.close();
        names.clear();
        names.addAll(files);
        images = Images.of(names);
    }

    private static byte[] bytes(Batch batch, String name) {
        ByteBuffer buffer = batch.array(name).byteBuffer();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    @Test
    void imagesComeAsFloatsWithChannelsFirst() {
        try (Loader loader = augmented().build()) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(batch.array("image").shape()).containsExactly(4, 3, 24, 32);
            assertThat(batch.array("image").dtype()).hasToString("<f4");
        }
    }

    @Test
    void anEpochHasTheSameBytesWhateverTheThreadsAndTheDevice() {
        long expected;
        try (Loader loader = augmented().threads(0).build()) {
            expected = Shelf.checksum(loader.epoch(2));
        }
        for (int threads : new int[] {1, 4}) {
            try (Loader loader = augmented().threads(threads).build()) {
                assertThat(Shelf.checksum(loader.epoch(2))).isEqualTo(expected);
                assertThat(Shelf.checksum(loader.epoch(1))).isNotEqualTo(expected);
            }
        }
        try (Loader loader = augmented().device(new FakeDevice()).build()) {
            assertThat(loader.devices()).isNotEmpty();
            assertThat(Shelf.checksum(loader.epoch(2))).isEqualTo(expected);
        }
    }

    @Test
    void bytesAreUploadedWhereAKernelDoesWhatFollows() {
        Transform steps =
                new Transform().randomResizedCrop(24, 32).randomCrop(20, 20, 3).randomFlip(0.5f);
        LoaderBuilder builder = Loader.over(images.dataset)
                .fields(
                        Field.images("image").transform(steps.toFloat().channelsFirst()),
                        Field.images("image").transform(steps).as("bytes"))
                .shuffle(3)
                .batchSize(4);
        long expected;
        try (Loader loader = builder.build()) {
            expected = Shelf.checksum(loader.epoch(2));
        }
        try (Loader loader = builder.device(new FakeDevice()).build()) {
            assertThat(Shelf.checksum(loader.epoch(2))).isEqualTo(expected);
            assertThat(loader.uploadedBytes()).isLessThan(11 * (2 * 24 * 32 * 3 + 100)); // of floats it would be more
        }
    }

    @Test
    void aWholeImageIsResizedAsPillowDoes() {
        reopen(List.of("photo.png"));
        try (Loader loader = Loader.over(images.dataset)
                .fields(
                        Field.images("image")
                                .transform(new Transform().decode(Colours.RGB).resize(13, 17, Resampling.LANCZOS)),
                        Field.images("image")
                                .transform(new Transform().decode(Colours.GREY).resize(13, 17))
                                .as("grey"),
                        Field.images("image")
                                .transform(new Transform().centerCrop(48, 64).resize(40, 24))
                                .as("twice"),
                        Field.images("image")
                                .transform(new Transform().resizeShorter(48).centerCrop(48, 48))
                                .as("same"))
                .batchSize(1)
                .build()) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(bytes(batch, "image")).isEqualTo(Images.resource("photo.png.13x17.lanczos"));
            assertThat(bytes(batch, "grey")).isEqualTo(Images.resource("photo.png.grey.13x17.bilinear"));
            assertThat(bytes(batch, "twice")).isEqualTo(Images.resource("photo.png.40x24.bilinear"));
            assertThat(batch.array("same").shape()).containsExactly(1, 48, 48, 3);
        }
    }

    @Test
    void aLargeJpegBecomesTheBytesOfPillowUnlessItMayBeDecodedAtASmallerSize() {
        reopen(List.of("large.jpg"));
        try (Loader loader = Loader.over(images.dataset)
                .fields(
                        Field.images("image")
                                .transform(new Transform().resize(120, 160))
                                .as("half"),
                        Field.images("image")
                                .transform(new Transform().resize(28, 36, Resampling.BICUBIC))
                                .as("eighth"),
                        Field.images("image")
                                .transform(new Transform()
                                        .decode(Colours.RGB, DecodeSize.SCALED)
                                        .resize(120, 160))
                                .as("scaled"))
                .batchSize(1)
                .build()) {
            Batch batch = only(loader);
            byte[] pillow = Images.resource("large.jpg.120x160.bilinear");
            assumeThat(batch.stateAfter().decoder()).startsWith("libturbojpeg");

            assertThat(bytes(batch, "half")).isEqualTo(pillow);
            assertThat(bytes(batch, "eighth")).isEqualTo(Images.resource("large.jpg.28x36.bicubic"));
            assertThat(bytes(batch, "scaled")).hasSameSizeAs(pillow).isNotEqualTo(pillow);
        }
    }

    @Test
    void aStateOfImagesDecodedAtAnotherSizeIsRefused() {
        LoaderState state;
        try (Loader loader = augmented().build()) {
            state = only(loader).stateAfter();
        }
        assumeThat(state.decoder()).startsWith("libturbojpeg");
        Transform scaled =
                new Transform().decode(Colours.RGB, DecodeSize.SCALED).then(AUGMENTED);
        try (Loader loader = Loader.over(images.dataset)
                .fields(Field.images("image").transform(scaled))
                .shuffle(3)
                .batchSize(4)
                .build()) {
            assertThatThrownBy(() -> loader.resume(state)).hasMessageContaining("another decoder");
        }
    }

    @Test
    void anImageAndItsMaskAreCutAlikeWhereTheyAreDeclaredToDrawTogether() {
        Transform cut = new Transform().randomResizedCrop(20, 20).randomFlip(0.5f);
        try (Loader loader = Loader.over(images.dataset)
                .fields(
                        Field.images("image").transform(cut).together("cut"),
                        Field.images("image").transform(cut).as("mask").together("cut"),
                        Field.images("image").transform(cut).as("other"))
                .batchSize(11)
                .build()) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(bytes(batch, "mask")).isEqualTo(bytes(batch, "image"));
            assertThat(bytes(batch, "other")).isNotEqualTo(bytes(batch, "image"));
        }
    }

    @Test
    void aResumedEpochGoesOnWithTheSameBytesAndAnotherDecoderIsRefusedUnlessTold() {
        LoaderState state;
        List<byte[]> rest = new ArrayList<>();
        try (Loader loader = augmented().build()) {
            List<LoaderState> states = new ArrayList<>();
            for (Batch batch : loader.epoch(0)) {
                states.add(LoaderState.parse(batch.stateAfter().toJson()));
                if (states.size() > 1) {
                    rest.add(bytes(batch, "image"));
                }
            }
            state = states.get(0);
            List<byte[]> resumed = new ArrayList<>();
            loader.resume(state).forEach(batch -> resumed.add(bytes(batch, "image")));

            assertThat(resumed).hasSize(2).usingRecursiveComparison().isEqualTo(rest);
            assertThat(state.decoder()).matches("(libturbojpeg\\S*|ImageIO) [0-9a-f]{8}");
        }
        LoaderState others = new LoaderState(
                state.dataset(),
                state.digest(),
                state.sampler(),
                state.seed(),
                state.epoch(),
                state.consumed(),
                state.length(),
                "libjpeg 9 00000000",
                "",
                "",
                "");
        try (Loader loader = augmented().build()) {
            assertThatThrownBy(() -> loader.resume(others))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("another decoder")
                    .hasMessageContaining("stateDecoder=libjpeg 9 00000000");
        }
        try (Loader loader = augmented().anyDecoder().build()) {
            assertThat(loader.resume(others)).hasSize(2);
        }
    }

    @Test
    void aStateOfALoaderWithoutImagesSaysNothingOfDecoders() {
        try (Loader loader =
                Loader.over(images.dataset).arrays("labels").batchSize(4).build()) {
            assertThat(loader.epoch(0).iterator().next().stateAfter().toJson()).doesNotContain("decoder");
        }
    }

    @Test
    void aBrokenImageFailsItsBatchAndSaysWhichFileItIs() {
        reopen(List.of("photo.jpg", "truncated.jpg", "photo.png"));
        try (Loader loader = Loader.over(images.dataset)
                .fields(Field.images("image").transform(new Transform().resize(8, 8)))
                .batchSize(3)
                .build()) {
            assertThatThrownBy(() -> loader.epoch(0).iterator().next())
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining("cannot transform a sample")
                    .hasMessageContaining("array=image")
                    .hasMessageContaining("sample=1")
                    .hasMessageContaining("file=truncated.jpg")
                    .hasMessageContaining("--max-skipped")
                    .hasMessageNotContainingAny("remove")
                    .hasMessageContaining("cannot decode image");
        }
    }

    @Test
    void brokenAndHugeImagesAreLeftOutWhereThePolicySaysSo() {
        reopen(List.of("photo.jpg", "truncated.jpg", "liar.jpg", "none.jpg", "bomb.png", "photo.png"));
        for (int threads : new int[] {0, 4}) {
            try (Loader loader = Loader.over(images.dataset)
                    .fields(Field.images("image").transform(new Transform().resize(8, 8)), Field.rows("labels"))
                    .onFailure(FailurePolicy.skip(4))
                    .threads(threads)
                    .batchSize(6)
                    .build()) {
                Batch batch = loader.epoch(0).iterator().next();

                assertThat(Shelf.labels(batch)).containsExactly(0, 5);
                assertThat(batch.array("image").shape()).containsExactly(2, 8, 8, 3);
                assertThat(loader.stats().skippedSamples()).isEqualTo(4);
            }
        }
    }

    @Test
    void imagesOfMorePixelsThanAllowedAreRefused() {
        reopen(List.of("large.jpg"));
        try (Loader loader = Loader.over(images.dataset)
                .fields(Field.images("image")
                        .transform(new Transform().decode(Colours.RGB, 76_799).resize(8, 8)))
                .batchSize(1)
                .build()) {
            assertThatThrownBy(() -> loader.epoch(0).iterator().next())
                    .hasMessageContaining("image has too many pixels: height=240 width=320 maxPixels=76799");
        }
    }

    private Batch only(Loader loader) {
        return loader.epoch(0).iterator().next();
    }

    private Loader decodingBy(JpegDecoder decoder) {
        return Loader.over(images.dataset)
                .fields(Field.images("image")
                        .transform(new Transform()
                                .decode(Colours.RGB, 1 << 20, decoder)
                                .centerCrop(48, 64)))
                .batchSize(1)
                .build();
    }

    @Test
    void aChosenDecoderMakesThePixels() {
        reopen(List.of("photo.jpg"));
        byte[] pillow = Images.resource("photo.jpg.rgb");
        boolean hasTurbo;
        try (Loader loader = decodingBy(JpegDecoder.AUTO)) {
            hasTurbo = String.valueOf(only(loader).stateAfter().decoder()).startsWith("libturbojpeg");
        }
        try (Loader loader = decodingBy(JpegDecoder.IMAGEIO)) {
            Batch batch = only(loader);
            byte[] pixels = bytes(batch, "image");

            assertThat(batch.stateAfter().decoder()).startsWith("ImageIO ");
            assertThat(pixels).hasSameSizeAs(pillow);
            for (int i = 0; i < pixels.length; i++) {
                assertThat(pixels[i] & 0xff).isCloseTo(pillow[i] & 0xff, within(3));
            }
        }
        assumeThat(hasTurbo).isTrue();
        for (JpegDecoder decoder : new JpegDecoder[] {JpegDecoder.AUTO, JpegDecoder.LIBJPEG_TURBO}) {
            try (Loader loader = decodingBy(decoder)) {
                Batch batch = only(loader);

                assertThat(batch.stateAfter().decoder()).startsWith("libturbojpeg");
                assertThat(bytes(batch, "image")).isEqualTo(pillow);
            }
        }
    }

    @Test
    void proportionsAndFilterOfARandomCropCanBeChosen() {
        reopen(List.of("photo.png"));
        Step.RandomResizedCrop whole = new Step.RandomResizedCrop(13, 17, 1, 1, 4 / 3f, 4 / 3f, Resampling.LANCZOS);
        try (Loader loader = Loader.over(images.dataset)
                .fields(Field.images("image").transform(new Transform().randomResizedCrop(whole)))
                .batchSize(1)
                .build()) {
            assertThat(bytes(loader.epoch(0).iterator().next(), "image"))
                    .isEqualTo(Images.resource("photo.png.13x17.lanczos"));
        }
    }

    @Test
    void stepsThatDoNotFitAreRefusedWhenTheLoaderIsBuilt() {
        for (Transform unfit : List.of(
                new Transform(),
                new Transform().toFloat(),
                new Transform().resizeShorter(8),
                new Transform().resizeShorter(8).centerCrop(9, 8),
                new Transform().resize(8, 8).decode(Colours.RGB),
                new Transform().resize(8, 8).toFloat().colourJitter(1, 0, 0, 0),
                new Transform().resize(8, 8).randomResizedCrop(4, 4))) {
            LoaderBuilder builder = Loader.over(images.dataset)
                    .fields(Field.images("image").transform(unfit))
                    .batchSize(2);

            assertThatThrownBy(builder::build)
                    .as(unfit.toString().toLowerCase(Locale.ROOT))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT));
        }
        assertThatThrownBy(() -> Field.files("image").transform(new Transform().toFloat()))
                .isInstanceOf(IllegalStateException.class);
    }

    @AfterEach
    void close() {
        images.close();
    }
}
