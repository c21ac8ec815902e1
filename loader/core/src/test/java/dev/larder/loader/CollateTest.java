package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.transform.BatchFunction;
import dev.larder.loader.transform.SampleRandom;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Batches that are changed as a whole: mixup and token masking, as trainers write them. */
@Timeout(60)
class CollateTest {
    private static final int ROWS = 90;
    private static final int WIDTH = 12;
    private static final Dtype INT32 = Dtype.parse("<i4");

    private final long seed = Long.getLong("larder.seed", System.nanoTime());
    private final Shelf shelf = Shelf.ofSamples(ROWS, WIDTH);

    @AfterEach
    void close() {
        shelf.close();
    }

    /** Mixes each sample with the one at the other end of the batch: images and one-hot labels by the same part. */
    private static void mixup(BatchFunction.Arrays batch, SampleRandom random) {
        float part = 0.5f + random.nextFloat() / 2;
        for (String name : List.of("images", "labels")) {
            ByteBuffer values = batch.array(name);
            int width = values.remaining() / Float.BYTES / batch.size();
            for (int i = 0; i < batch.size() / 2; i++) {
                for (int j = 0; j < width; j++) {
                    int one = (i * width + j) * Float.BYTES;
                    int other = ((batch.size() - 1 - i) * width + j) * Float.BYTES;
                    float a = values.getFloat(one);
                    float b = values.getFloat(other);
                    values.putFloat(one, part * a + (1 - part) * b);
                    values.putFloat(other, part * b + (1 - part) * a);
                }
            }
        }
    }

    /** Hides one token in five, and says what stood there; -100 elsewhere. */
    private static void mask(BatchFunction.Arrays batch, SampleRandom random) {
        ByteBuffer tokens = batch.array("labels");
        ByteBuffer targets = batch.array("targets");
        for (int at = 0; at < tokens.limit(); at += Integer.BYTES) {
            boolean hidden = random.nextInt(5) == 0;
            targets.putInt(at, hidden ? tokens.getInt(at) : -100);
            tokens.putInt(at, hidden ? -1 : tokens.getInt(at));
        }
    }

    private LoaderBuilder mixing() {
        return Loader.over(shelf.dataset)
                .arrays("images", "labels")
                .transform("images", new Transform().toFloat())
                .transform("labels", new Transform().oneHot(ROWS))
                .collate(CollateTest::mixup)
                .shuffle(11)
                .batchSize(8);
    }

    private LoaderBuilder masking() {
        return Loader.over(shelf.dataset)
                .fields(Field.window("labels", 6).stride(3))
                .collate(CollateTest::mask)
                .output("targets", INT32, 6)
                .shuffle(11)
                .batchSize(8);
    }

    @Test
    void samplesAreMixedAndTheirLabelsWithThem() {
        try (Loader plain = mixing().collate((batch, random) -> {}).build();
                Loader mixed = mixing().build()) {
            Iterator<Batch> originals = plain.epoch(0).iterator();
            for (Batch batch : mixed.epoch(0)) {
                ByteBuffer labels = batch.array("labels").byteBuffer();
                ByteBuffer images = batch.array("images").byteBuffer();
                ByteBuffer before = originals.next().array("images").byteBuffer();
                int last = batch.size() - 1;
                float part = labels.getFloat((int) batch.row(0) * 4);
                assertThat(part).isBetween(0.5f, 1f);
                assertThat(labels.getFloat((int) batch.row(last) * 4)).isEqualTo(1 - part);
                assertThat(images.getFloat(0))
                        .isEqualTo(part * before.getFloat(0) + (1 - part) * before.getFloat(last * WIDTH * 4));
            }
        }
    }

    @Test
    void furtherArraysHaveTheDeclaredTypeAndShape() {
        try (Loader loader = masking().build()) {
            int hidden = 0;
            int all = 0;
            for (Batch batch : loader.epoch(0)) {
                BatchArray targets = batch.array("targets");
                assertThat(targets.dtype()).isEqualTo(INT32);
                assertThat(targets.shape()).containsExactly(batch.size(), 6);
                ByteBuffer tokens = batch.array("labels").byteBuffer();
                for (int i = 0; i < batch.size() * 6; i++) {
                    int expected = (int) batch.row(i / 6) * 3 + i % 6;
                    boolean isHidden = tokens.getInt(4 * i) == -1;
                    assertThat(targets.byteBuffer().getInt(4 * i)).isEqualTo(isHidden ? expected : -100);
                    hidden += isHidden ? 1 : 0;
                    all++;
                }
            }
            assertThat(hidden).isBetween(all / 10, 3 * all / 10);
        }
    }

    @Test
    void theBytesAreTheSameWhateverTheThreadsDepthAndDevice() {
        System.err.println("seed=" + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 40; round++) {
            boolean masks = random.nextBoolean();
            long epoch = random.nextInt(3);
            long expected;
            try (Loader loader =
                    (masks ? masking() : mixing()).threads(0).prefetch(1).build()) {
                expected = Shelf.checksum(loader.epoch(epoch));
            }
            LoaderBuilder builder =
                    (masks ? masking() : mixing()).threads(random.nextInt(4)).prefetch(1 + random.nextInt(5));
            if (random.nextBoolean()) {
                builder.device(new FakeDevice());
            }
            try (Loader loader = builder.build()) {
                assertThat(Shelf.checksum(loader.epoch(epoch)))
                        .as("case %d of seed %d", round, seed)
                        .isEqualTo(expected);
                assertThat(Shelf.checksum(loader.epoch(epoch + 1))).isNotEqualTo(expected);
            }
        }
    }

    @Test
    void aResumedEpochHasTheBatchesThatWereLeft() {
        try (Loader loader = mixing().build()) {
            List<Long> sums = new ArrayList<>();
            List<LoaderState> states = new ArrayList<>();
            for (Batch batch : loader.epoch(1)) {
                states.add(batch.stateAfter());
                sums.add(sum(batch));
            }
            for (int i = 0; i < states.size() - 1; i++) {
                List<Long> rest = new ArrayList<>();
                loader.resume(states.get(i)).forEach(batch -> rest.add(sum(batch)));
                assertThat(rest).isEqualTo(sums.subList(i + 1, sums.size()));
            }
        }
    }

    private static long sum(Batch batch) {
        CRC32C crc = new CRC32C();
        batch.arrays().forEach(array -> crc.update(array.byteBuffer()));
        return crc.getValue();
    }

    @Test
    void samplesThatWereLeftOutAreNotInTheBatch() {
        List<Integer> sizes = new ArrayList<>();
        LoaderBuilder builder = Loader.over(shelf.dataset)
                .arrays("labels")
                .transform("labels", new Transform().map(INT32, new long[0], (sample, result, random) -> {
                            if (sample.getInt(0) % 10 == 3) {
                                throw new IllegalStateException("three");
                            }
                            result.put(sample);
                        }))
                .onFailure(FailurePolicy.retry(0).thenSkip(100))
                .collate((batch, random) -> {
                    for (int i = 0; i < batch.size(); i++) {
                        assertThat(batch.array("labels").getInt(4 * i)).isEqualTo((int) batch.row(i));
                    }
                    batch.array("size").putInt(0, batch.size());
                })
                .output("size", INT32)
                .batchSize(10);
        try (Loader loader = builder.build()) {
            loader.epoch(0)
                    .forEach(batch -> sizes.add(batch.array("size").byteBuffer().getInt(0)));
        }
        assertThat(sizes).hasSize(9).containsOnly(9);
    }

    @Test
    void noBatchIsCollatedTwiceNorOneWithoutSamples() {
        AtomicInteger calls = new AtomicInteger();
        LoaderBuilder builder = Loader.over(shelf.dataset)
                .arrays("labels")
                .collate((batch, random) -> calls.incrementAndGet())
                .shard(Shard.of(2, 3).exact())
                .batchSize(1)
                .threads(3);
        try (Loader loader = builder.build()) {
            loader.epoch(0).forEach(batch -> {});
            assertThat(calls).hasValue(30);
        }
    }

    @Test
    void failuresNameTheBatch() {
        BatchFunction fails = (batch, random) -> {
            if (batch.row(0) == 20) {
                batch.array("imagse");
            }
        };
        try (Loader loader = Loader.over(shelf.dataset)
                .arrays("images", "labels")
                .collate(fails)
                .batchSize(10)
                .build()) {
            assertThatThrownBy(() -> loader.epoch(4).forEach(batch -> {}))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("cannot collate a batch: dataset=shelf")
                    .hasMessageContaining("stage=collate")
                    .hasMessageContaining("name=imagse names=[images, labels]")
                    .hasMessageContaining("epoch=4 batch=2 samples=10");
        }
    }

    @Test
    void contradictionsAreRefused() {
        assertThatThrownBy(() -> Loader.over(shelf.dataset)
                        .output("more", INT32)
                        .batchSize(3)
                        .build())
                .hasMessageContaining("collate(…)");
        assertThatThrownBy(() -> mixing().output("images", INT32).build()).hasMessageContaining("named twice");
        assertThatThrownBy(() -> mixing().output("more", INT32, -1)).hasMessageContaining("rowShape=[-1]");
        assertThatThrownBy(() -> mixing().device(new FakeDevice())
                        .deviceMode(DeviceMode.RESIDENT)
                        .build())
                .hasMessageContaining("collated");
    }
}
