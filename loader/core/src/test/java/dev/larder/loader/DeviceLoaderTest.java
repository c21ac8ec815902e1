package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.internal.ring.Deliveries;
import dev.larder.loader.internal.slot.ArrayMemory;
import dev.larder.loader.transform.Transform;
import dev.larder.testing.FixtureArray;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(300)
@Tag("races")
class DeviceLoaderTest {
    private static final int ROWS = 300;

    private final Shelf shelf = Shelf.of(Map.of(
            "images", FixtureArray.bytes(Shelf.noiseBytes(ROWS * 64), ROWS, 8, 8), "labels", Shelf.labels(ROWS)));
    private final FakeDevice device = new FakeDevice();

    private LoaderBuilder loader() {
        return Loader.over(shelf.dataset)
                .arrays("images", "labels")
                .transform(
                        "images",
                        new Transform()
                                .randomCrop(8, 8, 2)
                                .randomFlip(0.5f)
                                .toFloat()
                                .normalize(0.5f, 0.25f))
                .shuffle(7)
                .batchSize(32);
    }

    private long onHost() {
        try (Loader loader = loader().build()) {
            return Shelf.checksum(loader.epoch(0));
        }
    }

    private static long checksum(Loader loader, long epoch) {
        BatchChecksum checksum = new BatchChecksum();
        loader.epoch(epoch).forEach(checksum::update);
        return checksum.value();
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void batchesAreThoseOfTheHostWhateverTheModeTheThreadsAndTheDepths(DeviceMode mode) {
        long expected = onHost();
        for (int i = 0; i < 8; i++) {
            LoaderBuilder builder = loader().threads(i % 4).prefetch(1 + i % 5);
            try (Loader loader = builder.device(device)
                    .deviceMode(mode)
                    .deviceSlots(1 + i % 3)
                    .build()) {
                assertThat(checksum(loader, 0)).as("round " + i).isEqualTo(expected);
                assertThat(checksum(loader, 0)).isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void aSlowDeviceWhoseFencesPassOutOfOrderGivesTheSame(DeviceMode mode) {
        device.latency(Duration.ofNanos(300_000))
                .jitter(Duration.ofMillis(3), 5)
                .bandwidth(50_000_000);
        long expected = onHost();

        try (Loader loader = loader().device(device).deviceMode(mode).build()) {
            assertThat(checksum(loader, 0)).isEqualTo(expected);
        }
    }

    @Test
    void theHostIsADeviceToo() {
        try (Loader loader = loader().device(Device.host()).build()) {
            assertThat(checksum(loader, 0)).isEqualTo(onHost());
            assertThat(loader.devices()).isEmpty();
            assertThat(loader.mode()).isEmpty();
            BatchArray array = loader.epoch(1).iterator().next().array("images");
            assertThat(array.byteBuffer().remaining()).isEqualTo(32 * 64 * 4);
            assertThat(array.handle()).isEqualTo(array.buffer().addressOffset());
            ByteBuffer copy = ByteBuffer.allocateDirect(32 * 64 * 4);
            array.read(copy);
            assertThat(copy.flip()).isEqualTo(array.byteBuffer());
        }
    }

    @Test
    void aBatchOnTheHostIsOneCompletePart() {
        try (Loader loader = loader().build()) {
            Batch batch = loader.epoch(0).iterator().next();
            BatchPart part = batch.parts().get(0);
            batch.await(Duration.ofNanos(1));

            assertThat(batch.parts()).hasSize(1);
            assertThat(part.device()).isEmpty();
            assertThat(part.queue()).isEmpty();
            assertThat(part.firstSample()).isZero();
            assertThat(part.size()).isEqualTo(32);
            assertThat(part.arrays()).isEqualTo(batch.arrays());
            assertThat(batch.ready().isPassed()).isTrue();
            assertThat(batch.array("images").strides()).containsExactly(64, 8, 1);
            assertThat(loader.slots()).isEqualTo(4);
            assertThat(loader.hostBytes()).isEqualTo(4 * 32 * (64 * 4 + 4));
            assertThat(loader.deviceBytes() + loader.uploadedBytes()).isZero();
        }
    }

    @Test
    void whatIsForADeviceIsRefusedWhereNoneIsNamed() {
        for (LoaderBuilder builder : List.of(
                loader().deviceMode(DeviceMode.STREAM), loader().deviceSlots(2), loader().deviceBudgetBytes(1))) {
            assertThatThrownBy(builder::build)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("name it with device(…)");
        }
        assertThatThrownBy(() -> loader().device()).hasMessageContaining("Device.auto()");
    }

    @Test
    @SuppressWarnings("NullAway") // as a caller whose compiler checks no nulls
    void aModeThatIsNoneIsRefusedAtOnce() {
        assertThatThrownBy(() -> loader().deviceMode(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void memoryThatIsGoneSaysThatTheBatchIsClosed() {
        Loader loader = loader().device(device).build();
        Batch batch = loader.epoch(0).iterator().next();
        List<ArrayMemory> memories = batch.arrays().stream()
                .map(BatchArray::memory)
                .toList(); // as a thread has it that looks while another closes
        loader.close();

        assertThat(memories)
                .hasSize(2)
                .allSatisfy(memory -> assertThatThrownBy(memory::handle)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("batch is closed"));
        assertThat(batch).hasToString("Batch{closed}");
    }

    @Test
    void severalDevicesGetTheirPartsOfEveryBatch() {
        FakeDevice second = new FakeDevice().latency(Duration.ofMillis(1));
        FakeDevice third = new FakeDevice();
        try (Loader loader = loader().device(device, second, third).build()) {
            assertThat(checksum(loader, 0)).isEqualTo(onHost());
            Batch batch = loader.epoch(1).iterator().next();
            assertThat(batch.parts().stream().map(BatchPart::size)).containsExactly(11, 11, 10);
            assertThat(batch.parts().get(2).firstSample()).isEqualTo(22);
            assertThatThrownBy(() -> batch.array("images")).hasMessageContaining("use parts()");
        }
        assertThat(second.liveObjects() + third.liveObjects()).isZero();
    }

    @Test
    void anArrayOnADeviceSaysWhatItIsInDlpacksWords() {
        try (Loader loader = loader().device(device).build()) {
            Batch batch = loader.epoch(0).iterator().next();
            BatchArray images = batch.array("images");

            assertThat(images.dtype().descr()).isEqualTo("<f4");
            assertThat(images.shape()).containsExactly(32, 8, 8);
            assertThat(images.strides()).containsExactly(64, 8, 1);
            assertThat(images.byteSize()).isEqualTo(32 * 64 * 4);
            assertThatThrownBy(images::buffer)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("read(ByteBuffer)")
                    .hasMessageContaining("array=images");
            assertThatThrownBy(images::byteBuffer).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> images.byteBuffer(0, 1)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void statesAndRowsAreThoseOfTheHost() {
        try (Loader host = loader().build();
                Loader loader = loader().device(device).build()) {
            Iterator<Batch> expected = host.epoch(2).iterator();
            for (Batch batch : loader.epoch(2)) {
                Batch same = expected.next();
                assertThat(batch.number()).isEqualTo(same.number());
                assertThat(batch.row(batch.size() - 1)).isEqualTo(same.row(same.size() - 1));
                assertThat(batch.stateAfter()).isEqualTo(same.stateAfter());
            }
            assertThat(expected.hasNext()).isFalse();
        }
    }

    @Test
    void whatWasLeftComesAfterResuming() {
        try (Loader loader = loader().device(device).build()) {
            List<LoaderState> states = new ArrayList<>();
            List<Long> rest = new ArrayList<>();
            for (Batch batch : loader.epoch(0)) {
                if (batch.number() == 4) {
                    states.add(batch.stateAfter());
                } else if (batch.number() > 4) {
                    rest.add(batch.row(0));
                }
            }
            List<Long> resumed = new ArrayList<>();
            loader.resume(states.get(0)).forEach(batch -> resumed.add(batch.row(0)));

            assertThat(resumed).isEqualTo(rest).hasSize(5);
        }
    }

    @Test
    void whatTheConsumersQueueDoesAfterAnotherBatchWasTakenStillSeesItsOwn() {
        device.latency(Duration.ofMillis(1));
        List<ByteBuffer> seen = new ArrayList<>();
        try (Loader host = loader().build();
                Loader loader = loader().device(device).deviceSlots(2).build()) {
            for (Batch batch : loader.epoch(0)) {
                ByteBuffer copy =
                        ByteBuffer.allocateDirect((int) batch.array("images").byteSize());
                batch.array("images").read(copy);
                seen.add(copy.flip());
            }
            for (Batch batch : host.epoch(0)) {
                assertThat(seen.get((int) batch.number()))
                        .isEqualTo(batch.array("images").byteBuffer());
            }
        }
    }

    @Test
    void keptBatchesStayWhileOthersPass() {
        try (Loader loader = loader().device(device).deviceSlots(3).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch first = batches.next().keep();
            long row = first.row(0);
            Batch second = batches.next();
            batches.next();

            assertThat(first.isOpen()).isTrue();
            assertThat(first.row(0)).isEqualTo(row);
            assertThatThrownBy(second::size).isInstanceOf(IllegalStateException.class);
            first.close();
            first.close();
            assertThatThrownBy(() -> first.array("images")).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void closingABatchLateNeverClosesAnother() {
        try (Loader loader = loader().device(device).build()) {
            Batch old = loader.epoch(0).iterator().next();
            long taken = 0;
            for (int epoch = 1; taken < Deliveries.REST + 50; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    old.close();
                    assertThat(batch.isOpen()).isTrue();
                    assertThat(old.isOpen()).isFalse();
                    taken++;
                }
            }
        }
    }

    @Test
    void onTheHostABatchStaysUntilTheFenceOfItsLastUseIsPassed() throws InterruptedException {
        try (Loader loader = loader().build()) {
            Batch old = loader.epoch(0).iterator().next();
            long number = old.number();
            Gate gate = new Gate();
            Thread releasing = new Thread(() -> old.release(gate));
            releasing.start();
            gate.waiting.await();
            long taken = 0;
            for (int epoch = 1; taken < Deliveries.REST + 50; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    assertThat(batch).isNotSameAs(old);
                    old.close();
                    assertThat(old.epoch()).isZero();
                    assertThat(old.number()).isEqualTo(number);
                    taken++;
                }
            }
            Batch last = loader.epoch(0).iterator().next();
            gate.isPassed = true;
            releasing.join();

            assertThat(old.isOpen()).isFalse();
            assertThat(last.isOpen()).isTrue();
            assertThat(gate.isClosed).isTrue();
        }
    }

    @Test
    void onTheHostABatchWhoseFenceFailsIsClosedAllTheSame() {
        try (Loader loader =
                loader().prefetch(1).timeout(Duration.ofMillis(300)).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch batch = batches.next();
            Gate gate = new Gate();

            assertThatThrownBy(() -> batch.release(gate)).hasMessageContaining("did not reach the fence in time");
            assertThat(batch.isOpen()).isFalse();
            assertThat(gate.isClosed).isTrue();
            assertThat(batches.next().size()).isEqualTo(32);
        }
    }

    /** A fence that a test lets pass. */
    private static final class Gate extends Fence {
        final CountDownLatch waiting = new CountDownLatch(1);
        volatile boolean isPassed;
        volatile boolean isClosed;

        @Override
        public boolean isPassed() {
            waiting.countDown();
            return isPassed;
        }

        @Override
        public @Nullable Object nativeObject() {
            return null;
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }

    @Test
    void raggedRowsGrowTheirMemory() {
        try (Scenes scenes = Scenes.open()) {
            LoaderBuilder fields = Loader.over(scenes.dataset)
                    .fields(Field.packed("words"), Field.padded("boxes").transform(new Transform().cast("<f4")))
                    .batchSize(5);
            try (Loader host = fields.build();
                    Loader loader = fields.device(device).deviceSlots(2).build()) {
                assertThat(checksum(loader, 0)).isEqualTo(Shelf.checksum(host.epoch(0)));
            }
        }
    }

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        shelf.close();
        assertThat(device.liveObjects()).as("objects of the device").isZero();
        assertThat(device.usedBytes()).isZero();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (Shelf.deviceThreads() > 0 && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(Shelf.deviceThreads()).as("threads").isZero();
    }
}
