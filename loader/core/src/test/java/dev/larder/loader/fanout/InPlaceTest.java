package dev.larder.loader.fanout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.Sources;
import dev.larder.loader.device.Device;
import dev.larder.loader.sample.Mixture;
import dev.larder.loader.sample.Mixture.Exhausted;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A loader that gathers into the slots of a ring. */
@Tag("races")
class InPlaceTest {
    private static final Duration SOON = Duration.ofMillis(300);
    private static final int BATCHES = 7; // the last of 4 samples

    private final Gallery gallery = new Gallery(100, 50, 16);

    @AfterEach
    void closeGallery() {
        gallery.close();
    }

    private LoaderBuilder builder() {
        return Loader.over(gallery.dataset)
                .arrays("images", "labels")
                .shuffle(42)
                .batchSize(16);
    }

    private CompletableFuture<Long> checksum() {
        return CompletableFuture.supplyAsync(
                () -> {
                    CRC32C sum = new CRC32C();
                    try (SharedBatches batches = gallery.consumer().attach()) {
                        batches.forEach(batch -> Gallery.add(batch, sum));
                    }
                    return sum.getValue();
                },
                task -> new Thread(task).start());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void consumersSeeTheSameBytesHoweverManyThreadsGather(int threads) {
        List<CompletableFuture<Long>> consumers = List.of(checksum(), checksum());
        try (BatchPublisher publisher =
                        gallery.publisher().slots(3).consumers(2).open();
                Loader loader =
                        builder().threads(threads).into(publisher.slots()).build()) {
            assertThat(loader.slots()).isEqualTo(3);
            for (long e = 0; e < 40; e++) {
                publisher.publish(loader.epoch(e));
            }
            assertThat(publisher.published()).isEqualTo(40 * BATCHES);
        }

        long expected = gallery.checksum(40);
        assertThat(consumers).allSatisfy(sum -> assertThat(sum.join()).isEqualTo(expected));
        assertThat(gallery.ring()).doesNotExist();
    }

    @Test
    void whatTransformsMakeLiesInTheSlotsToo() {
        UnaryOperator<LoaderBuilder> floats =
                builder -> builder.transform("images", new Transform().toFloat().normalize(0.3f, 0.4f));
        CompletableFuture<Long> consumer = checksum();
        try (BatchPublisher publisher =
                        gallery.publisher().slots(2).consumers(1).open();
                Loader loader = floats.apply(builder()).into(publisher.slots()).build()) {
            publisher.publish(loader.epoch(0));
        }
        CRC32C expected = new CRC32C();
        try (Loader loader = floats.apply(builder()).build()) {
            loader.epoch(0).forEach(batch -> batch.arrays().forEach(array -> expected.update(array.byteBuffer())));
        }

        assertThat(consumer.join()).isEqualTo(expected.getValue());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void windowsOfMixturesThatAreCollatedLieInTheSlotsEpochAfterEpochWithoutAPause(int threads) {
        Supplier<LoaderBuilder> mixed = () -> Loader.over(Sources.mix(
                        Mixture.weights(2, 1).exhausted(Exhausted.REPEAT), gallery.dataset, gallery.dataset))
                .fields(
                        Field.window("images", 3).stride(2).random(),
                        Field.window("labels", 3).stride(2).random())
                .collate((batch, random) -> batch.array("drawn").putLong(0, random.nextLong()))
                .output("drawn", Dtype.parse("<i8"))
                .shuffle(42)
                .batchSize(16);
        CompletableFuture<Long> consumer = checksum();
        try (BatchPublisher publisher =
                        gallery.publisher().slots(3).consumers(1).open();
                Loader loader =
                        mixed.get().threads(threads).into(publisher.slots()).build()) {
            loader.epochs(0, 20).forEach(publisher::publish);
        }
        CRC32C expected = new CRC32C();
        try (Loader loader = mixed.get().build()) {
            for (long e = 0; e < 20; e++) {
                loader.epoch(e).forEach(batch -> batch.arrays().forEach(array -> expected.update(array.byteBuffer())));
            }
        }

        assertThat(consumer.join()).isEqualTo(expected.getValue());
    }

    @Test
    void batchesOfDifferentLengthsAreCopiedAsBefore() {
        try (BatchPublisher publisher = gallery.publisher().slots(50).open();
                Loader ragged = Loader.over(gallery.dataset)
                        .fields(Field.padded("words"))
                        .batchSize(16)
                        .into(publisher.slots())
                        .build();
                Loader unordered =
                        builder().inAnyOrder().into(publisher.slots()).build()) {
            assertThat(List.of(ragged.slots(), unordered.slots())).containsOnly(4);
            publisher.publish(ragged.epoch(0));
            for (Batch batch : ragged.epoch(1)) {
                publisher.publish(batch);
            }
            try (SharedBatches batches = gallery.consumer().attach()) {
                assertThat(batches.iterator().next().array("words").shape()).containsExactly(16, 7);
            }
            assertThat(publisher.published()).isEqualTo(2 * BATCHES);
        }
    }

    @Test
    void onlyEpochsOfTheLoaderInTheSlotsArePublished() {
        try (BatchPublisher publisher = gallery.publisher().slots(3).open();
                Loader loader = gallery.loaderInto(publisher)) {
            assertThatThrownBy(() -> gallery.loaderInto(publisher))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("the slots are in use");
            assertThatThrownBy(() -> publisher.publish(gallery.loader.epoch(0)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("batch is not in the next slot: epoch=0 batch=0");
            try (Batch batch = loader.epoch(0).iterator().next()) {
                assertThatThrownBy(() -> publisher.publish(batch))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("publish its epochs");
            }
            publisher.publish(loader.epoch(0));
            assertThat(publisher.published()).isEqualTo(BATCHES);
        }
        try (BatchPublisher publisher = gallery.publisher().open()) {
            publisher.publish(gallery.loader.epoch(0));
            assertThatThrownBy(() -> gallery.loaderInto(publisher)).hasMessageContaining("the slots are in use");
            LoaderBuilder onDevice = builder().device(Device.auto()).into(publisher.slots());
            assertThatThrownBy(onDevice::build).hasMessageContaining("remove device(…) or into(…)");
        }
    }

    @Test
    @SuppressWarnings("try") // closed early, so that the consumer comes to its end
    void consumersThatComeLateCostNoBatch() {
        try (BatchPublisher publisher =
                        gallery.publisher().slots(2).consumers(1).timeout(SOON).open();
                Loader loader = gallery.loaderInto(publisher)) {
            for (int attempt = 0; attempt < 4; attempt++) { // more often than there are slots
                assertThatThrownBy(() -> publisher.publish(loader.epoch(0)))
                        .hasMessageContaining("consumers did not attach");
            }
            CompletableFuture<Long> consumer = checksum();
            await().until(() -> publisher.consumers() == 1);
            publisher.publish(loader.epoch(0));
            publisher.close();
            assertThat(consumer.join()).isEqualTo(gallery.checksum(1));
        }
    }

    @Test
    void aBatchThatIsTooLongForASlotIsRefusedWithBothSizes() {
        try (BatchPublisher publisher = gallery.publisher().slotBytes(4096).open()) {
            assertThatThrownBy(() -> gallery.loaderInto(publisher))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining("does not fit into a slot of the ring: needed=")
                    .hasMessageContaining("slotBytes=4096");
        }
    }

    @Test
    @SuppressWarnings("try") // closed early, so that the consumer comes to its end
    void anEpochThatIsLeftLeavesTheOthersInOrder() {
        try (BatchPublisher publisher =
                        gallery.publisher().slots(3).consumers(1).open();
                Loader loader = gallery.loaderInto(publisher)) {
            CompletableFuture<Long> consumer = checksum();
            CRC32C expected = new CRC32C();
            for (long e = 0; e < 20; e++) {
                assertThat(loader.epoch(e + 1).number())
                        .isEqualTo(e + 1); // threads fill its first batches, which nobody takes
                publisher.publish(loader.epoch(e));
            }
            publisher.close();
            for (long e = 0; e < 20; e++) {
                gallery.loader
                        .epoch(e)
                        .forEach(batch -> batch.arrays().forEach(array -> expected.update(array.byteBuffer())));
            }
            assertThat(consumer.join()).isEqualTo(expected.getValue());
        }
    }

    @Test
    @SuppressWarnings("try") // closed early, so that the consumer comes to its end
    void aProducerIsBlockedByWhoDoesNotGetOnUntilItsDeadlineAndGoesOnLater() {
        try (BatchPublisher publisher =
                        gallery.publisher().slots(2).timeout(SOON).open();
                Loader loader = gallery.loaderInto(publisher);
                SharedBatches slow = gallery.consumer().attach()) {
            assertThatThrownBy(() -> publisher.publish(loader.epoch(0)))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE))
                    .hasMessageContaining("consumers=consumer-00(pid");
            assertThat(publisher.published()).isEqualTo(2);

            CompletableFuture<Long> read =
                    CompletableFuture.supplyAsync(() -> gallery.readGenuine(slow), task -> new Thread(task).start());
            publisher.publish(loader.epoch(1));
            publisher.close();
            assertThat(read.join()).isEqualTo(2 + BATCHES);
        }
    }
}
