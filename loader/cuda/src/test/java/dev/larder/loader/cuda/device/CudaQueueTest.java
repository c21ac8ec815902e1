package dev.larder.loader.cuda.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.Fence;
import dev.larder.loader.device.Rig;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceLimits;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(60)
@ExtendWith(CudaStub.class)
class CudaQueueTest {
    private static final Duration SHORT = Duration.ofMillis(50);

    private static Rig open() {
        return open(Rig.SOON);
    }

    private static Rig open(Duration patience) {
        return new Rig(backend(patience), 100);
    }

    private static DeviceBackend backend(Duration patience) {
        return CudaDevice.of(0)
                .with(new DeviceLimits(Long.MAX_VALUE, Long.MAX_VALUE, true, patience))
                .open();
    }

    private static void requireDeadline(Fence fence) {
        assertThatThrownBy(() -> fence.await(SHORT))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE));
    }

    @Test
    void theKernelWaitsForTheUpload() {
        try (Rig rig = open()) {
            CudaStub.hold(CudaDevice.stream(rig.backend.uploads()));
            try (Fence done = rig.submit(Rig.random(rig.byteSize, 1))) {
                requireDeadline(done);
                assertThat(rig.read(rig.target)).containsOnly(0xA5);

                CudaStub.open();

                done.await(Rig.SOON);
                assertThat(rig.read(rig.target)).isEqualTo(Rig.random(rig.byteSize, 1));
            }
        }
    }

    @Test
    void theConsumerWaitsForTheKernel() {
        try (Rig rig = open()) {
            CudaStub.hold(CudaDevice.stream(rig.backend.kernels()));
            try (Fence done = rig.submit(Rig.random(rig.byteSize, 1))) {
                rig.backend.consumer().waitFor(done);
                try (Fence consumed = rig.backend.consumer().fence()) {
                    requireDeadline(consumed);

                    CudaStub.open();

                    consumed.await(Rig.SOON);
                }
            }
        }
    }

    @Test
    void whatIsStagedTooEarlyIsSeen() {
        try (Rig rig = open()) {
            CudaStub.hold(CudaDevice.stream(rig.backend.uploads()));
            try (Fence done = rig.submit(Rig.random(rig.byteSize, 1))) {
                rig.staging.bytes().put(0, Rig.random(rig.byteSize, 2)); // wrong: the upload's fence is not passed

                CudaStub.open();

                done.await(Rig.SOON);
                assertThat(rig.read(rig.target)).isEqualTo(Rig.random(rig.byteSize, 2));
            }
        }
    }

    @Test
    void uploadsComeFromLockedPages() {
        try (Rig rig = open();
                HostMemory pageable = HostMemory.allocate(rig.byteSize)) {
            rig.submit(Rig.random(rig.byteSize, 1)).close();
            assertThat(CudaStub.count("pageable")).isZero();

            rig.backend.uploads().upload(pageable, 0, rig.stored, 0, rig.byteSize);

            assertThat(CudaStub.count("pageable")).isEqualTo(1);
            assertThat(rig.backend.uploads().drain(Rig.SOON)).isTrue();
            assertThat(rig.backend.kernels().drain(Rig.SOON)).isTrue();
        }
        CudaStub.reset();
    }

    @Test
    void anEventIsUsedAgainAndNoFenceSpeaksForAnother() {
        try (Rig rig = open()) {
            for (int i = 0; i < 200; i++) {
                rig.submit(Rig.random(rig.byteSize, i)).close();
            }
            assertThat(CudaStub.live().getOrDefault("events", 0L)).isLessThan(10);

            Fence closed = rig.backend.uploads().fence();
            closed.close();
            CudaStub.hold(CudaDevice.stream(rig.backend.kernels()));
            try (Fence next = rig.backend.kernels().fence()) {
                assertThat(closed.isPassed()).isTrue();
                requireDeadline(next);
                CudaStub.open();
                next.await(Rig.SOON);
            }
        }
    }

    @Test
    void aReadThatIsGivenUpNamesItsDeadline() {
        try (Rig rig = open(Duration.ofMillis(200))) {
            CudaStub.hold(CudaDevice.stream(rig.backend.consumer()));
            ByteBuffer bytes = ByteBuffer.allocateDirect(10);

            assertThatThrownBy(() -> rig.backend.consumer().read(rig.target, 0, bytes))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE));

            CudaStub.open();
        }
    }

    @Test
    void whatIsUnderWayIsWaitedForWhenClosing() {
        CudaStub.set("delay_us", 30_000);
        Rig rig = open();
        rig.submit(Rig.random(rig.byteSize, 1)).close();

        rig.backend.close();

        assertThat(CudaStub.count("pending")).isZero();
        rig.close();
    }

    @Test
    void whatDoesNotEndIsLeftAsItIs() {
        Rig rig = open(Duration.ofMillis(100));
        CudaStub.hold(CudaDevice.stream(rig.backend.kernels()));
        rig.submit(Rig.random(rig.byteSize, 1)).close();

        rig.backend.close();
        rig.close();

        assertThat(CudaStub.live()).containsEntry("memory", 2L).containsEntry("streams", 4L);
        CudaStub.leaveAsItIs();
    }

    @Test
    void anInterruptedThreadClosesAllTheSame() {
        Rig rig = open();
        rig.submit(Rig.random(rig.byteSize, 1)).close();
        Thread.currentThread().interrupt();

        rig.backend.close();

        assertThat(CudaStub.count("pending")).isZero();
        rig.close();

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void hostMemoryBeginsOnAPageAndIsZero() {
        try (DeviceBackend backend = backend(Rig.SOON);
                HostMemory memory = backend.allocate(1_000_003)) {
            assertThat(memory.bytes()).isEqualTo(ByteBuffer.allocate(1_000_003));
            assertThat(org.agrona.BufferUtil.address(memory.bytes()) % HostMemory.ALIGNMENT)
                    .isZero();
        }
    }

    @Test
    void aDeviceThatIsFullSaysHowFullAndWorksOn() {
        DeviceLimits small = new DeviceLimits(1000, Long.MAX_VALUE, true, Rig.SOON);
        try (DeviceBackend backend = CudaDevice.of(0).with(small).open();
                DeviceMemory first = backend.allocateDevice(600)) {
            assertThatThrownBy(() -> backend.allocateDevice(401))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                    .hasMessageContainingAll("needed=401", "allocated=600", "memory=1000");
            assertThat(first.byteSize()).isEqualTo(600);
            backend.allocateDevice(400).close();
        }
    }

    @Test
    void whatOthersTookOfTheDeviceIsSaid() {
        try (DeviceBackend backend = backend(Rig.SOON)) {
            CudaStub.set("memory", 300);

            assertThatThrownBy(() -> backend.allocateDevice(401))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                    .hasMessageContainingAll("needed=401", "free=300", "check what else uses the device");
        }
    }

    @Test
    void whatIsOfAnotherBackendIsRefused() {
        Fence foreign = new Fence() {
            @Override
            public boolean isPassed() {
                return false;
            }

            @Override
            public Object nativeObject() {
                return this;
            }

            @Override
            public void close() {}
        };
        try (Rig rig = open()) {
            assertThat(rig.backend.accepts(foreign)).isFalse();
            assertThat(rig.backend.accepts(Fence.passed())).isTrue();
            assertThatThrownBy(() -> rig.backend.uploads().waitFor(foreign))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> rig.backend.kernels().launch(() -> {}, 1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> rig.backend.kernels().launch(rig.call, Rig.SAMPLES + 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> CudaDevice.event(foreign)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
