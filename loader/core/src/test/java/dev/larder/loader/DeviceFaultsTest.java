package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.testing.FixtureArray;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
@Tag("races")
class DeviceFaultsTest {
    private static final int ROWS = 200;
    private static final int ROW_BYTES = 1000;

    private final Shelf shelf = Shelf.ofSamples(ROWS, ROW_BYTES);
    private final FakeDevice device = new FakeDevice();

    private LoaderBuilder loader() {
        return Loader.over(shelf.dataset).arrays("images", "labels").shuffle(1).batchSize(10);
    }

    private static @Nullable LarderException failureOf(Loader loader) {
        return catchThrowableOfType(
                LarderException.class, () -> loader.epoch(0).forEach(batch -> batch.await(Duration.ofSeconds(5))));
    }

    // ---- devices that fail

    @Test
    void aFailedOperationEndsTheEpochNamingBatchPhaseAndTheDevicesWord() {
        device.failOperation(9);
        try (Loader loader =
                loader().device(device).deviceMode(DeviceMode.STREAM).build()) {
            Awaitility.await().until(() -> failureOf(loader) != null);
            assertThatThrownBy(() -> loader.epoch(0).forEach(batch -> {}))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("device failed")
                    .hasMessageMatching("(?s).*phase=(upload|deliver).*") // whoever sees it first
                    .hasMessageContaining("batch=")
                    .hasMessageContaining("FAKE_FAILED");
        }
    }

    @Test
    void whateverOperationFailsNothingHangsAndNothingIsLeft() {
        for (DeviceMode mode : DeviceMode.values()) {
            for (int operation = 0; operation < 40; operation += 3) {
                FakeDevice failing = new FakeDevice().failOperation(operation).latency(Duration.ofNanos(50_000));
                try (Loader loader = loader().device(failing).deviceMode(mode).build()) {
                    failureOf(loader);
                } catch (LarderException e) { // while resident arrays were copied
                    assertThat(e).hasMessageContaining("FAKE_FAILED");
                }
                assertThat(failing.liveObjects()).as(mode + " " + operation).isZero();
            }
        }
    }

    @Tag("slow")
    @Test
    void anOperationThatNeverEndsIsADeadlineAndItsMemoryIsLeftAlone() {
        device.loseOperation(6);
        Loader loader = loader().timeout(Duration.ofMillis(300))
                .device(device)
                .deviceMode(DeviceMode.STREAM)
                .build();

        LarderException failure = failureOf(loader);
        assertThat(failure).isNotNull().extracting(LarderException::code).isEqualTo(ErrorCode.DEADLINE);
        assertThatThrownBy(loader::close)
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("device did not finish in time");
        assertThat(device.liveObjects()).isPositive();
        device.reset();
        Awaitility.await().until(() -> Shelf.gatherThreads() == 0);
    }

    @Test
    void aSampleThatCannotBeReadFailsAfterTheBatchesBeforeIt() {
        Sampler bad = new Sampler() {
            @Override
            public SampleOrder order(long rows, long epoch) {
                return new SampleOrder() {
                    @Override
                    public long length() {
                        return rows;
                    }

                    @Override
                    public long row(long position) {
                        return epoch == 0 && position == 35 ? rows : position;
                    }
                };
            }
        };
        try (Loader loader = loader().sampler(bad).device(device).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            for (int i = 0; i < 3; i++) {
                assertThat(batches.next().number()).isEqualTo(i);
            }
            assertThatThrownBy(batches::next).hasMessageContaining("row that does not exist");
            assertThat(loader.epoch(1).iterator().next().size()).isEqualTo(10);
        }
    }

    // ---- too little memory

    @Test
    void withTooLittleMemoryThereAreFewerSlots() {
        long slotBytes = 10 * (ROW_BYTES + 4);
        device.memory(2 * slotBytes + 100, 1 << 20);
        try (Loader loader = loader().device(device)
                .deviceMode(DeviceMode.STREAM)
                .deviceSlots(8)
                .build()) {
            assertThat(loader.slots()).isEqualTo(2);
            assertThat(loader.deviceBytes()).isEqualTo(2 * slotBytes).isEqualTo(device.usedBytes());
            assertThat(failureOf(loader)).isNull();
        }
    }

    @Test
    void arraysThatDoNotFitAreStreamed() {
        device.memory(ROWS * ROW_BYTES, 1 << 20);
        try (Loader loader = loader().device(device)
                .deviceBudgetBytes(Long.MAX_VALUE)
                .deviceSlots(2)
                .build()) {
            assertThat(loader.mode()).contains(DeviceMode.STREAM);
            assertThat(failureOf(loader)).isNull();
        }
    }

    @Test
    void withoutRoomForASlotBatchesStayOnTheHostIfTheyMayElseItFailsWithNumbers() {
        device.memory(5000, 5000);
        assertThatThrownBy(() -> loader().device(device).build())
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("wanted=10000")
                .hasMessageContaining("memory=5000");
        device.orHost();
        try (Loader loader = loader().device(device).build()) {
            assertThat(loader.mode()).isEmpty();
            assertThat(failureOf(loader)).isNull();
        }
    }

    @Test
    void residentArraysAreDividedWhereADeviceAllocatesNoMore() {
        device.memory(1 << 20, 30_000);
        long expected;
        try (Loader host = loader().build()) {
            expected = Shelf.checksum(host.epoch(0));
        }
        try (Loader loader =
                loader().device(device).deviceMode(DeviceMode.RESIDENT).build()) {
            BatchChecksum checksum = new BatchChecksum();
            loader.epoch(0).forEach(checksum::update);
            assertThat(checksum.value()).isEqualTo(expected);
            assertThat(loader.mode()).contains(DeviceMode.RESIDENT);
        }
    }

    @Test
    void sharedPagesTakeNoMemoryOfTheDevice() {
        device.unifiedMemory();
        try (Loader loader = loader().device(device).deviceSlots(1).build()) {
            assertThat(loader.mode()).contains(DeviceMode.RESIDENT);
            assertThat(loader.deviceBytes()).isLessThan(10 * (ROW_BYTES + 200));
            assertThat(failureOf(loader)).isNull();
        }
    }

    // ---- endings

    @Test
    void epochsMayBeLeftAtAnyPlaceInAnyOrder() {
        Random random = new Random(3);
        device.latency(Duration.ofNanos(100_000)).jitter(Duration.ofMillis(1), 9);
        try (Loader loader = loader().device(device).deviceSlots(3).build()) {
            for (int round = 0; round < 40; round++) {
                int leave = random.nextInt(22);
                Epoch epoch = loader.epoch(round % 3);
                for (Batch batch : epoch) {
                    if (batch.number() == leave) {
                        break;
                    }
                }
                if (random.nextBoolean()) {
                    epoch.close();
                }
            }
            assertThat(failureOf(loader)).isNull();
        }
    }

    @Test
    void aLoopOverAnEpochThatEndedFailsRatherThanSeemingComplete() {
        try (Loader loader = loader().device(device).build()) {
            Epoch epoch = loader.epoch(0);
            Iterator<Batch> batches = epoch.iterator();
            batches.next();
            epoch.close();
            assertThatThrownBy(batches::next).isInstanceOf(IllegalStateException.class);
            Iterator<Batch> others = loader.epoch(1).iterator();
            loader.epoch(2);
            assertThatThrownBy(others::next).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void closingWhileAnotherThreadWaitsEndsItsWait() throws InterruptedException {
        device.latency(Duration.ofMillis(200));
        Loader loader = loader().device(device)
                .deviceMode(DeviceMode.STREAM)
                .deviceSlots(1)
                .build();
        AtomicReference<Throwable> seen = new AtomicReference<>();
        Thread consumer = new Thread(() -> {
            try {
                loader.epoch(0).forEach(batch -> batch.keep());
            } catch (Throwable e) {
                seen.set(e);
            }
        });
        consumer.start();
        Awaitility.await().until(() -> consumer.getState() == Thread.State.TIMED_WAITING);

        loader.close();
        consumer.join(60_000);

        assertThat(seen.get()).isInstanceOf(IllegalStateException.class);
        loader.close();
    }

    @Test
    void tooManyKeptBatchesAreADeadlineThatSaysSo() {
        try (Loader loader = loader().timeout(Duration.ofMillis(100))
                .device(device)
                .deviceSlots(2)
                .build()) {
            assertThatThrownBy(() -> loader.epoch(0).forEach(Batch::keep))
                    .hasMessageContaining("no slot for the next batch, since all batches are open")
                    .hasMessageContaining("stage=slot")
                    .hasMessageContaining("openBatches=2");
        }
    }

    @Test
    void aLoaderThatWasForgottenEndsWithItsThreads() {
        loader().device(device).build().epoch(0).iterator().next();

        Awaitility.await().until(() -> {
            System.gc();
            return device.liveObjects() == 0 && Shelf.deviceThreads() == 0;
        });
    }

    @Test
    void aForgottenLoaderWhoseDeviceHangsHoldsUpNoOther() {
        device.hold();
        loader().threads(0).device(device).build().epoch(0);
        Awaitility.await().until(() -> {
            System.gc();
            return Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("larder-upload"));
        });

        loader().threads(2).build().epoch(0);

        Awaitility.await().atMost(Duration.ofSeconds(3)).until(() -> {
            System.gc();
            return Shelf.gatherThreads() == 0;
        });
        device.go();
        Awaitility.await().until(() -> device.liveObjects() == 0 && Shelf.deviceThreads() == 0);
    }

    @Test
    void aSlowConsumerIsNotALateDevice() throws InterruptedException {
        device.hold();
        try (Loader loader = loader().timeout(Duration.ofMillis(300))
                .device(device)
                .deviceSlots(2)
                .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            int taken = 0;
            LarderException waited = null;
            while (waited == null) {
                waited = catchThrowableOfType(LarderException.class, batches::next);
                taken += waited == null ? 1 : 0;
            }
            assertThat(waited).hasMessageContaining("no batch within the timeout");
            device.go();
            int rest = 0;
            while (batches.hasNext()) {
                batches.next();
                rest++;
            }
            assertThat(taken + rest).as("no batch is lost").isEqualTo(20);
        }
    }

    @Test
    void batchesOfManySamplesGrowTheirMemory() {
        BatchSampler sizes = BatchSampler.of(Sampler.random(1), 150, false);
        for (DeviceMode mode : List.of(DeviceMode.STREAM, DeviceMode.RESIDENT)) {
            LoaderBuilder fields = Loader.over(shelf.dataset)
                    .arrays("images", "labels")
                    .transform("images", new Transform().toFloat())
                    .batches(sizes);
            try (Loader host = fields.build();
                    Loader loader = fields.device(device).deviceMode(mode).build()) {
                BatchChecksum checksum = new BatchChecksum();
                loader.epoch(0).forEach(checksum::update);
                assertThat(checksum.value()).isEqualTo(Shelf.checksum(host.epoch(0)));
            }
        }
    }

    @Test
    void whateverAllocationOrCallFailsNothingHangsAndNothingIsLeft() {
        for (int number = 0; number < 60; number++) {
            for (FakeDevice failing :
                    List.of(new FakeDevice().failAllocation(number), new FakeDevice().failCall(number))) {
                try (Loader loader = loader().device(failing, new FakeDevice())
                        .deviceMode(number % 2 == 0 ? DeviceMode.STREAM : DeviceMode.RESIDENT)
                        .deviceSlots(2)
                        .build()) {
                    failureOf(loader);
                } catch (LarderException e) {
                    assertThat(e).hasMessageMatching(".*(too little memory|FAKE_REFUSED).*");
                }
                assertThat(failing.liveObjects()).as("number " + number).isZero();
            }
        }
    }

    @Test
    void aDatasetThatIsClosedUnderTheLoaderFailsItRatherThanDeliverZeros() {
        device.unifiedMemory();
        try (Loader loader = loader().device(device).deviceSlots(2).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            batches.next();
            shelf.dataset.close();
            Awaitility.await()
                    .untilAsserted(() -> assertThatThrownBy(batches::next)
                            .isInstanceOf(LarderException.class)
                            .hasMessageContaining("close the loader first"));
        }
    }

    @Test
    void closingAnInterruptedThreadsLoaderLeavesNothing() {
        device.latency(Duration.ofMillis(50));
        Loader loader = loader().device(device).deviceMode(DeviceMode.STREAM).build();
        loader.epoch(0).iterator().next();
        Thread.currentThread().interrupt();

        loader.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(device.liveObjects()).isZero();
    }

    @Test
    void aLeftOverLoopDoesNoHarmToTheRunningEpoch() {
        try (Loader loader = loader().device(device).build()) {
            Iterator<Batch> old = loader.epoch(0).iterator();
            old.next();
            Batch running = loader.epoch(1).iterator().next();
            assertThatThrownBy(old::next).isInstanceOf(IllegalStateException.class);
            assertThat(running.size()).isEqualTo(10);
        }
    }

    @Test
    void whatHoldsABatchBackIsNotItsDevicesFaultNorThatOfTheOthers() {
        FakeDevice slow = new FakeDevice().latency(Duration.ofMillis(20));
        device.failOperation(12);
        try (Loader loader =
                loader().device(device, slow).deviceMode(DeviceMode.STREAM).build()) {
            Awaitility.await().until(() -> failureOf(loader) != null);
        }
        assertThat(slow.liveObjects()).isZero();
    }

    // ---- fences of the consumer

    @Test
    void aFenceThatTheDeviceDoesNotKnowIsRefused() {
        Fence foreign = new Fence() {
            @Override
            public boolean isPassed() {
                return false;
            }

            @Override
            public @Nullable Object nativeObject() {
                return null;
            }

            @Override
            public void close() {}
        };
        try (Loader loader = loader().device(device).build()) {
            Batch batch = loader.epoch(0).iterator().next();
            assertThatThrownBy(() -> batch.release(foreign)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> batch.release()).isInstanceOf(IllegalArgumentException.class);
            assertThat(batch.isOpen()).isTrue();
            batch.release(Fence.passed());
            assertThatThrownBy(() -> batch.release(Fence.passed())).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aFenceForABatchThatWasClosedMeanwhileIsClosedAsWell() {
        try (Loader loader = loader().device(device).build()) {
            Batch batch = loader.epoch(0).iterator().next();
            Fence fence = batch.parts().get(0).queue().orElseThrow().fence();
            batch.close();
            assertThatThrownBy(() -> batch.release(fence)).isInstanceOf(IllegalStateException.class);
        }
        assertThat(device.liveObjects()).isZero();
    }

    @Test
    void theHostToo() {
        try (Loader loader = loader().device(Device.host()).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch batch = batches.next().keep();
            batch.release(Fence.passed());
            assertThatThrownBy(batch::size).isInstanceOf(IllegalStateException.class);
            loader.epoch(0);
            assertThatThrownBy(batches::next).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void packedRowsCannotBeDividedAmongDevices() {
        try (Scenes scenes = Scenes.open()) {
            Field made = Field.packed("words").mapRagged(Dtype.parse("|u1"), new long[] {1}, (row, result) -> 1);
            for (Field packed : List.of(Field.packed("words"), made)) {
                LoaderBuilder fields =
                        Loader.over(scenes.dataset).fields(packed).batchSize(4);
                assertThatThrownBy(() -> fields.device(device, new FakeDevice()).build())
                        .hasMessageContaining("cannot be divided");
            }
        }
    }

    @Test
    void rowsThatAreLookedUpAreResidentToo() {
        Map<String, FixtureArray> arrays = Map.of(
                "features", Shelf.noise(20, 64), "of", FixtureArray.ints(new int[] {3, 3, 19, 0, 7, 7, 1, 2}, 8));
        try (Shelf shelf2 = Shelf.of(arrays)) {
            LoaderBuilder fields = Loader.over(shelf2.dataset)
                    .fields(Field.rows("of"), Field.rows("features").at("of"))
                    .batchSize(3);
            try (Loader host = fields.build();
                    Loader loader = fields.device(device)
                            .deviceMode(DeviceMode.RESIDENT)
                            .build()) {
                BatchChecksum checksum = new BatchChecksum();
                loader.epoch(0).forEach(checksum::update);
                assertThat(checksum.value()).isEqualTo(Shelf.checksum(host.epoch(0)));
            }
        }
    }

    @AfterEach
    void nothingIsLeft() {
        shelf.close();
        Awaitility.await().until(() -> Shelf.deviceThreads() == 0);
    }
}
