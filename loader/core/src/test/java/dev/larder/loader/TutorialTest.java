package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.sample.Buckets;
import dev.larder.loader.sample.Labels;
import dev.larder.loader.sample.LastBatch;
import dev.larder.loader.sample.Lengths;
import dev.larder.loader.sample.Mixture;
import dev.larder.loader.sample.Mixture.Exhausted;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.sample.Subset;
import dev.larder.loader.transform.BatchFunction;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The user guide of client and loader, in executable form; read it from top to bottom.
 *
 * <p>The dataset is {@code shirts}: 1000 pictures of 28×28 bytes in {@code images}, and what each shows in {@code labels}, a
 * little-endian int32. In real life {@code larder serve --load shirts=FOLDER} puts it there.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class TutorialTest {
    private final StoreFixture store = StoreFixture.create();
    private Larder larder;
    private Dataset shirts;

    @BeforeEach
    void open() {
        store.publish("shirts", Map.of("images", pictures(1000), "labels", Shelf.labels(1000)));
        larder = Larder.connect(store.store());
        shirts = larder.dataset("shirts");
    }

    @Test
    @Order(0)
    void readArraysInPlace() {
        ArrayView images = shirts.array("images"); // a view of the shared pages; nothing is copied
        assertThat(images.dtype().descr()).isEqualTo("|u1");
        assertThat(images.shape()).containsExactly(1000, 28, 28);
        int pixel = images.getInt(7, 0, 0); // any integer or floating type, as int, long, float or double
        assertThat((byte) pixel).isEqualTo((byte) 7);

        DirectBuffer seventh = images.row(7); // a window on one row, read-only
        assertThat(seventh.getByte(0)).isEqualTo((byte) 7);

        UnsafeBuffer some = new UnsafeBuffer(new byte[3 * 784]);
        images.copyRows(new long[] {5, 3, 999}, some, 0); // gather, without garbage
        assertThat(some.getByte(784)).isEqualTo((byte) 3);
        assertThat(shirts.version())
                .isEqualTo(1); // all arrays of one handle are of one version, leased until it is closed
    }

    @Test
    @Order(1)
    void readADatasetInBatches() {
        int samples = 0;
        try (Loader loader =
                Loader.over(shirts).arrays("images", "labels").batchSize(256).build()) {
            for (Batch batch : loader.epoch(0)) {
                DirectBuffer images = batch.array("images").buffer(); // 256 rows of 784 bytes, one after the other
                DirectBuffer labels = batch.array("labels").buffer(); // 256 little-endian ints
                for (int i = 0; i < batch.size(); i++) { // 256, and 232 in the last batch
                    assertThat(images.getByte(i * 784)).isEqualTo((byte) labels.getInt(i * 4, ByteOrder.LITTLE_ENDIAN));
                    samples++;
                }
            }
        }
        assertThat(samples).isEqualTo(1000);
    }

    @Test
    @Order(2)
    void shuffleTheSameWayInEveryRunAndAnotherWayInEveryEpoch() {
        try (Loader loader = Loader.over(shirts).shuffle(42).batchSize(250).build();
                Loader again = Loader.over(shirts).shuffle(42).batchSize(250).build()) {
            List<List<Integer>> third =
                    Shelf.labels(loader.epoch(3)); // as torch.manual_seed(42 + 3); torch.randperm(1000)

            assertThat(Shelf.labels(again.epoch(3))).isEqualTo(third);
            assertThat(Shelf.labels(again.epoch(4))).isNotEqualTo(third);
            assertThat(Set.copyOf(Shelf.flat(third))).hasSize(1000); // each sample once
        }
    }

    @Test
    @Order(3)
    void tellWhatABatchIsMadeOf() {
        try (Loader loader = Loader.over(shirts)
                        .arrays("images")
                        .shuffle(42)
                        .batchSize(250)
                        .build();
                Epoch epoch = loader.epoch(0)) {
            assertThat(epoch.batches()).isEqualTo(4);
            Batch batch = epoch.iterator().next();

            assertThat(batch.number()).isZero();
            assertThat(batch.rows()).startsWith(542, 618, 816).hasSize(250); // the rows of the array that it holds
            assertThat(batch.array("images").dtype().descr()).isEqualTo("|u1");
            assertThat(batch.array("images").shape()).containsExactly(250, 28, 28);
        }
    }

    @Test
    @Order(4)
    void leaveALoopWhenever() {
        try (Loader loader = Loader.over(shirts).shuffle(42).batchSize(10).build()) {
            for (Batch batch : loader.epoch(0)) {
                if (batch.number() == 3) {
                    break; // nothing to clean up: the next epoch, or closing the loader, ends this one
                }
            }
            assertThat(Shelf.labels(loader.epoch(1))).hasSize(100);
        }
    }

    @Test
    @Order(5)
    void keepABatchForLater() {
        try (Loader loader =
                Loader.over(shirts).shuffle(42).batchSize(10).prefetch(6).build()) {
            List<Batch> kept = new ArrayList<>();
            for (Batch batch : loader.epoch(0)) {
                if (batch.number() < 4) { // fewer than the loader has slots
                    kept.add(batch.keep()); // all others are closed when the loop moves on
                }
            }
            assertThat(kept.get(0).rows()).startsWith(542, 618);
            kept.forEach(Batch::close);
        }
    }

    @Test
    @Order(6)
    void chooseHowMuchWorksAhead() {
        try (Loader few =
                        Loader.over(shirts).shuffle(42).batchSize(64).threads(0).build(); // gathers when asked
                Loader many = Loader.over(shirts)
                        .shuffle(42)
                        .batchSize(64)
                        .threads(4) // these fill one batch together, then the next
                        .prefetch(8) // up to eight batches are filled or in use
                        .timeout(Duration.ofSeconds(5)) // for one batch; then an error says what it waited for
                        .build()) {
            BatchChecksum one = new BatchChecksum();
            BatchChecksum other = new BatchChecksum();
            few.epoch(0).forEach(one::update);
            many.epoch(0).forEach(other::update);

            assertThat(one.value()).isEqualTo(other.value()); // neither changes a byte
        }
    }

    @Test
    @Order(7)
    void bringYourOwnOrder() {
        Sampler backwards = (rows, epoch) -> new SampleOrder() {
            @Override
            public long length() {
                return rows;
            }

            @Override
            public long row(long position) {
                return rows - 1 - position;
            }
        };
        try (Loader loader = Loader.over(shirts)
                .sampler(backwards)
                .batchSize(3)
                .dropLast(true)
                .build()) {
            assertThat(Shelf.labels(loader.epoch(0)))
                    .startsWith(List.of(999, 998, 997))
                    .hasSize(333);
        }
    }

    @Test
    @Order(8)
    void transformOnTheWayIntoTheBatch() {
        try (Loader loader = Loader.over(shirts)
                .arrays("images", "labels")
                .transform(
                        "images",
                        new Transform()
                                .randomCrop(28, 28, 4) // 4 rows and columns of zeros around it
                                .randomFlip(0.5f)
                                .toFloat() // 0 to 255 become 0 to 1
                                .normalize(0.286f, 0.353f))
                .shuffle(42) // what is random is so by seed, epoch and sample: the same in every run, for any number of
                // threads
                .batchSize(256)
                .build()) {
            Batch batch = loader.epoch(0).iterator().next();
            assertThat(batch.array("images").dtype().descr()).isEqualTo("<f4");
            assertThat(batch.array("images").shape()).containsExactly(256, 28, 28);
        }
    }

    @Test
    @Order(9)
    void dealAnEpochOutToRanks() {
        List<Integer> seen = new ArrayList<>();
        for (int rank = 0; rank < 4; rank++) { // in real life each in a process of its own
            try (Loader loader =
                    Loader.over(shirts).shuffle(42).shard(rank, 4).batchSize(64).build()) {
                Epoch epoch = loader.epoch(0);
                assertThat(epoch.batches()).isEqualTo(4); // the same on every rank, so nobody waits for ever
                Shelf.labels(epoch).forEach(seen::addAll);
            }
        }
        assertThat(seen).hasSize(1000).doesNotHaveDuplicates();
    }

    @Test
    @Order(10)
    void evaluateEverySampleOnce() {
        List<Integer> seen = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) { // 3 does not divide 1000: PyTorch would count samples twice
            Shard exact = Shard.of(rank, 3).exact();
            try (Loader loader = Loader.over(shirts).shard(exact).batchSize(100).build()) {
                Shelf.labels(loader.epoch(0)).forEach(seen::addAll);
            }
        }
        assertThat(seen).hasSize(1000).doesNotHaveDuplicates();
    }

    @Test
    @Order(11)
    void splitTrainFromValidation() {
        List<Subset> parts = Subset.split(shirts.array("images").rows(), 1234, 0.8, 0.2);
        Sampler training = Sampler.random(42).over(parts.get(0)); // every sampler works over a part of the rows
        try (Loader loader =
                Loader.over(shirts).sampler(training).batchSize(100).build()) {
            assertThat(loader.epoch(0).samples()).isEqualTo(800);
        }
        Sampler balanced = Sampler.weighted(
                Labels.of(shirts.array("labels")).balancingWeights(), 500, 42); // rare classes as often as others
        try (Loader loader =
                Loader.over(shirts).sampler(balanced).batchSize(100).build()) {
            assertThat(loader.epoch(0).samples()).isEqualTo(500);
        }
    }

    @Test
    @Order(12)
    void goOnWhereAnEarlierRunStopped() {
        String saved = "";
        List<List<Integer>> seen = new ArrayList<>();
        try (Loader loader = Loader.over(shirts).shuffle(42).batchSize(100).build()) {
            for (Batch batch : loader.epoch(2)) {
                seen.add(Shelf.labels(batch));
                saved = batch.stateAfter().toJson(); // a line of JSON, to be saved with the model
                if (batch.number() == 3) {
                    break; // here the process is killed
                }
            }
        }
        try (Loader loader = Loader.over(shirts).shuffle(42).batchSize(100).build()) {
            seen.addAll(Shelf.labels(loader.resume(LoaderState.parse(saved)))); // at once, nothing is read again
            assertThat(seen).isEqualTo(Shelf.labels(loader.epoch(2)));
        }
    }

    @Test
    @Order(13)
    void batchWhatDiffersInLength() {
        try (Scenes scenes =
                        Scenes.open(); // words: ragged; scene: the key of each sample's scene; feat: a row for each
                // scene
                Loader loader = Loader.over(scenes.dataset)
                        .fields(Field.padded("words").toMultipleOf(4), Field.texts("question"))
                        .fields(Field.rows("feat").lookup("scene", "scenes"))
                        .batches(Buckets.of(Lengths.of(scenes.dataset.ragged("words")))
                                .bounds(1, 3) // 0 to 1 words, 2 to 3, more
                                .batchSizes(32, 24, 16)
                                .shuffle(42))
                        .build()) {
            for (Batch batch : loader.epoch(0)) {
                BatchArray words = batch.array("words"); // [batch, longest, to a multiple of 4]
                assertThat(batch.array("words.mask").shape()).isEqualTo(words.shape()); // 1 where there is no padding
                assertThat(batch.text("question", 0)).isEqualTo("question " + batch.row(0) + " é");
                assertThat(batch.array("feat").dimension(0)).isEqualTo(batch.size());
            }
        }
    }

    @Test
    @Order(14)
    void sayWhatBecomesOfBadSamplesAndWhereTheTimeGoes() {
        try (Loader loader = Loader.over(shirts)
                .arrays("images", "labels")
                .transform("images", new Transform().toFloat().map((values, shape, random) -> {
                            if (values[0] == 7 / 255f) {
                                throw new IllegalArgumentException("a bad picture"); // your own code may fail
                            }
                        }))
                .onFailure(FailurePolicy.retry(1)
                        .thenSkip(10)) // without it the epoch fails, and says which sample of which file
                .batchSize(100)
                .build()) {
            int samples = Shelf.flat(Shelf.labels(loader.epoch(0))).size();
            LoaderStats stats =
                    loader.stats(); // batches and bytes per second, gathering, transforming, waiting for whom
            assertThat(samples).isEqualTo(1000 - (int) stats.skippedSamples());
            assertThat(stats.skippedSamples()).isBetween(1L, 10L);
        }
    }

    @Test
    @Order(15)
    void bringBatchesToADevice() {
        Device device = new FakeDevice(); // in earnest Device.auto(), Device.opencl().named("H200"), OpenClDevice.of(…)
        Transform transform = new Transform().randomCrop(28, 28, 4).toFloat().normalize(0.286f, 0.353f);
        ByteBuffer seen = ByteBuffer.allocateDirect(256 * 784 * Float.BYTES);
        try (Loader loader = Loader.over(shirts)
                .arrays("images", "labels")
                .transform("images", transform) // by a kernel: rows travel as they are stored, or only their numbers do
                .shuffle(42)
                .batchSize(256)
                .device(device)
                .build()) {
            assertThat(loader.mode()).contains(DeviceMode.RESIDENT); // they fit: uploaded once
            for (Batch batch : loader.epoch(0)) {
                BatchArray images = batch.array("images"); // on the batch's queue without further ado
                assertThat(images.shape()).containsExactly(batch.size(), 28, 28);
                batch.await(Duration.ofSeconds(10)); // for the host; queues wait for batch.ready()
                images.read(seen.clear()); // the bytes that the host would make
            }
        }
    }

    @Test
    @Order(16)
    void runYourOwnCodeOverRowsOfAnyLength() {
        Dtype tokens = Dtype.parse("<i4");
        Field words = Field.texts("question").padded().mapRagged(tokens, new long[] {16}, (utf8, row) -> {
            int count = 0; // utf8: the text where it lies; row: its place in the batch
            for (int i = 0; i < utf8.capacity(); i++) {
                if (i == 0 || utf8.getByte(i - 1) == ' ') {
                    row.putInt(4 * count++, utf8.getByte(i), ByteOrder.LITTLE_ENDIAN); // a poor tokenizer
                }
            }
            return count; // how long the row became
        });
        try (Scenes scenes = Scenes.open();
                Loader loader = Loader.over(scenes.dataset)
                        .fields(words, Field.rows("labels"))
                        .batchSize(10)
                        .build()) {
            Batch batch = loader.epoch(0).iterator().next();
            assertThat(batch.array("question").shape()).containsExactly(10, 3); // "question", a number, "é"
            assertThat(batch.array("question.mask").shape()).containsExactly(10, 3);
        }
    }

    @Test
    @Order(17)
    void decodeImagesInTheLoader() {
        Transform augmented = new Transform()
                .randomResizedCrop(24, 24) // as torchvision draws it, resized as Pillow does
                .randomFlip(0.5f)
                .colourJitter(0.4f, 0.4f, 0.4f, 0.1f)
                .toFloat()
                .normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
                .channelsFirst();
        try (Images photos = Images.of(List.of("photo.jpg", "photo.png", "truncated.jpg", "large.jpg"));
                Loader loader = Loader.over(photos.dataset) // in real life larder load photos=FOLDER --as images
                        .fields(Field.images("image").transform(augmented), Field.rows("labels"))
                        .onFailure(FailurePolicy.skip(1)) // what cannot be decoded is left out, and counted
                        .batchSize(4)
                        .build()) {
            Batch batch = loader.epoch(0).iterator().next();
            assertThat(batch.array("image").shape()).containsExactly(3, 3, 24, 24);
            assertThat(batch.stateAfter().decoder()).isNotEmpty(); // who resumes has to have the same one
        }
    }

    @Test
    @Order(20)
    void cutTokensIntoWindows() {
        store.publish(
                "books",
                Map.of("tokens", Shelf.labels(10_000), "ends", FixtureArray.longs(new long[] {0, 4_000, 10_000}, 3)));
        Field tokens = Field.window("tokens", 128).random().within("ends"); // anywhere, but in one book
        try (Dataset books = larder.dataset("books");
                Loader loader = Loader.over(books)
                        .fields(
                                tokens.as("inputs"),
                                tokens.offset(1).as("targets")) // the same windows, one token later
                        .shuffle(42) // where windows lie is drawn from this seed, too
                        .batchSize(16)
                        .build()) {
            assertThat(loader.rows()).isEqualTo(3_871 / 128 + 1 + 5_871 / 128 + 1); // as many samples as windows
            for (Batch batch : loader.epoch(0)) {
                assertThat(batch.array("inputs").shape()).containsExactly(batch.size(), 128);
                int next = batch.array("inputs").byteBuffer().getInt(4);
                assertThat(batch.array("targets").byteBuffer().getInt(0)).isEqualTo(next);
            }
        }
    }

    @Test
    @Order(21)
    void trainWithoutAPauseBetweenEpochsAndEvaluateInTheirMidst() {
        Subset training = Subset.range(0, 800);
        Subset validation = Subset.range(800, 200);
        try (Loader loader = Loader.over(shirts)
                .sampler(Sampler.random(42).over(training))
                .batchSize(64)
                .lastBatch(
                        LastBatch.PAD) // all batches are full, in a resumed epoch as well; validSize says what counts
                .build()) {
            int evaluated = 0;
            for (Epoch epoch : loader.epochs(0, 3)) { // the next one's first batches are made behind this one's last
                for (Batch batch : epoch) {
                    assertThat(batch.size()).isEqualTo(64);
                    if (batch.number() == 6) {
                        for (Batch other : loader.beside(Sampler.sequential().over(validation))) {
                            evaluated += other.validSize();
                        }
                    }
                }
            }
            assertThat(evaluated).isEqualTo(3 * 200);
        }
    }

    @Test
    @Order(22)
    void takeBatchesAsTheyAreReadyAndGoOnFromThere() {
        LoaderBuilder shuffled = Loader.over(shirts).shuffle(42).batchSize(10);
        Set<Long> seen = new HashSet<>();
        String saved = "";
        try (Loader loader = shuffled.inAnyOrder().build()) { // a slow batch does not hold up the others
            for (Batch batch : loader.epoch(0)) {
                Arrays.stream(batch.rows()).forEach(seen::add);
                saved = batch.stateAfter().toJson(); // lists what was handed out by now
                if (seen.size() == 300) {
                    break;
                }
            }
            for (Batch batch : loader.resume(LoaderState.parse(saved))) { // with several ranks: LoaderState.merged(…)
                assertThat(Arrays.stream(batch.rows())).noneMatch(seen::contains);
                Arrays.stream(batch.rows()).forEach(seen::add);
            }
        }
        assertThat(seen).hasSize(1000);
    }

    @Test
    @Order(23)
    void trainOnSeveralDatasets() {
        store.publish("shoes", Map.of("images", pictures(300), "labels", Shelf.labels(300)));
        store.publish("hints", Map.of("hints", Shelf.labels(1000), "labels", Shelf.labels(1000)));
        try (Dataset shoes = larder.dataset("shoes");
                Dataset hints = larder.dataset("hints");
                Loader both = Loader.over(Sources.concat(shirts, shoes))
                        .batchSize(100)
                        .build();
                Loader paired = Loader.over(
                                Sources.zip("labels", shirts, hints)) // the same labels in both, which is checked
                        .arrays("images", "hints")
                        .batchSize(100)
                        .build();
                Loader mixed = Loader.over(Sources.mix(
                                Mixture.weights(3, 1).exhausted(Exhausted.REPEAT),
                                shirts,
                                shoes)) // three shirts a shoe
                        .shuffle(42)
                        .batchSize(100)
                        .build()) {
            assertThat(both.rows()).isEqualTo(1300);
            assertThat(paired.rows()).isEqualTo(1000);
            Batch first = mixed.epoch(0).iterator().next();
            assertThat(Arrays.stream(first.rows()).filter(row -> row >= 1000).count())
                    .isBetween(20L, 30L);
            assertThat(first.stateAfter().places()).startsWith("shirts=7").contains("shoes=2"); // where each of them is
        }
    }

    @Test
    @Order(24)
    void changeABatchAsAWhole() {
        BatchFunction mixup = (batch, random) -> { // each image with its neighbour
            float part = random.nextFloat(); // the same for this batch in every run
            ByteBuffer images = batch.array("images");
            for (int at = 0; at + 784 * 4 < images.limit(); at += 4) {
                images.putFloat(at, part * images.getFloat(at) + (1 - part) * images.getFloat(at + 784 * 4));
            }
            batch.array("part").putFloat(0, part);
        };
        try (Loader loader = Loader.over(shirts)
                .arrays("images", "labels")
                .transform("images", new Transform().toFloat())
                .collate(mixup) // in the loader's threads, when all samples are there
                .output("part", Dtype.parse("<f4")) // one more array, which the function fills
                .shuffle(42)
                .batchSize(64)
                .build()) {
            Batch batch = loader.epoch(0).iterator().next();
            assertThat(batch.array("part").byteBuffer().getFloat(0)).isBetween(0f, 1f);
        }
    }

    @AfterEach
    void close() {
        shirts.close(); // after its loaders
        larder.close();
        store.close();
    }

    /** Makes pictures that begin with the lowest byte of their label. */
    private static FixtureArray pictures(int count) {
        byte[] pixels = Shelf.noiseBytes(count * 784);
        for (int i = 0; i < count; i++) {
            pixels[i * 784] = (byte) i;
        }
        return FixtureArray.bytes(pixels, count, 28, 28);
    }
}
