package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The user guide of the loader, in executable form; read it from top to bottom.
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
    @Order(1)
    void readADatasetInBatches() {
        int samples = 0;
        try (Loader loader =
                Loader.over(shirts).arrays("images", "labels").batch(256).build()) {
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
        try (Loader loader = Loader.over(shirts).shuffle(42).batch(250).build();
                Loader again = Loader.over(shirts).shuffle(42).batch(250).build()) {
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
                        .batch(250)
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
        try (Loader loader = Loader.over(shirts).shuffle(42).batch(10).build()) {
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
        try (Loader loader = Loader.over(shirts).shuffle(42).batch(10).depth(6).build()) {
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
        try (Loader few = Loader.over(shirts).shuffle(42).batch(64).threads(0).build(); // gathers when asked
                Loader many = Loader.over(shirts)
                        .shuffle(42)
                        .batch(64)
                        .threads(4) // these fill one batch together, then the next
                        .depth(8) // up to eight batches are filled or in use
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
        try (Loader loader =
                Loader.over(shirts).sampler(backwards).batch(3).dropLast(true).build()) {
            assertThat(Shelf.labels(loader.epoch(0)))
                    .startsWith(List.of(999, 998, 997))
                    .hasSize(333);
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
