package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.loader.device.Fence;
import dev.larder.loader.device.Rig;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource.Rows;
import dev.larder.loader.internal.device.WorkQueue;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(300)
@ExtendWith(LeavesNoObjects.class)
class OpenClMisuseTest {
    @Test
    void rangesBeyondTheMemoryAreRefused() {
        try (Rig rig = OpenClRig.open()) {
            WorkQueue queue = rig.backend.uploads();

            assertThatThrownBy(() -> queue.upload(rig.staging, 1, rig.stored, 0, rig.byteSize))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> queue.upload(rig.staging, 0, rig.stored, 1, rig.byteSize))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> queue.upload(rig.staging, -1, rig.stored, 0, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> queue.read(rig.stored, rig.byteSize - 3, ByteBuffer.allocateDirect(4)))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void moreSamplesThanThereIsRoomForAreRefused() {
        try (Rig rig = OpenClRig.open()) {
            assertThatThrownBy(() -> rig.backend.kernels().launch(rig.call, Rig.SAMPLES + 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> rig.backend.kernels().launch(rig.call, -1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            rig.backend.kernels().launch(rig.call, 0);
        }
    }

    @Test
    void whatIsClosedIsNotUsed() {
        try (Rig rig = OpenClRig.open()) {
            rig.stored.close();
            rig.stored.close();
            rig.staging.close();
            rig.staging.close();

            assertThatThrownBy(() -> rig.backend.kernels().launch(rig.call, 1))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> rig.backend.uploads().upload(rig.staging, 0, rig.target, 0, 1))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(rig.staging::bytes).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> rig.read(rig.stored)).isInstanceOf(IllegalStateException.class);
            rig.call.close();
            assertThatThrownBy(() -> rig.backend.kernels().launch(rig.call, 1))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aClosedBackendDoesNothing() {
        Rig rig = OpenClRig.open();
        rig.close();

        assertThatCode(rig.backend::close).doesNotThrowAnyException();
        assertThatThrownBy(() -> rig.backend.allocate(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> rig.backend.allocateDevice(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> rig.backend.uploads().fence()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> rig.backend.compile(Rig.copy(1, Rows.staged())))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void memoryMayBeClosedAfterItsBackend() {
        Rig rig = OpenClRig.open();
        rig.backend.close();

        assertThatCode(rig::close).doesNotThrowAnyException();
    }

    @Test
    void whatIsAnotherDevicesIsRefused() {
        try (Rig rig = OpenClRig.open();
                Rig other = OpenClRig.open();
                Fence fence = other.backend.uploads().fence()) {
            assertThat(other.backend.accepts(fence)).isTrue();
            assertThat(rig.backend.accepts(fence)).isFalse();
            assertThat(rig.backend.accepts(Fence.passed())).isTrue();
            assertThatThrownBy(() -> rig.backend.kernels().waitFor(fence)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> rig.backend.kernels().waitFor(new Strange()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> rig.backend.kernels().launch(other.call, 1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> rig.backend.kernels().launch(() -> {}, 1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> rig.backend.uploads().upload(rig.staging, 0, other.stored, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void kernelsTakeAllTheirArgumentsAndNoOthers() {
        try (Rig rig = OpenClRig.open()) {
            DeviceKernel staged = rig.backend.compile(Rig.copy(100, Rows.staged()));
            DeviceKernel resident = rig.backend.compile(Rig.copy(100, Rows.resident(1, 2)));
            List<DeviceMemory> one = List.of(rig.stored);

            assertThatThrownBy(() -> staged.bind(rig.target, rig.target, one))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> staged.bind(null, rig.target, List.of()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> resident.bind(null, rig.target, List.of(rig.stored, rig.stored)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> resident.bind(rig.target, rig.target, one))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void buffersThatADeviceCannotWriteAreRefused() {
        try (Rig rig = OpenClRig.open()) {
            WorkQueue queue = rig.backend.consumer();

            assertThatThrownBy(() -> queue.read(rig.target, 0, ByteBuffer.allocate(4)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> queue.read(
                            rig.target, 0, ByteBuffer.allocateDirect(4).asReadOnlyBuffer()))
                    .isInstanceOf(ReadOnlyBufferException.class);
            queue.read(rig.target, rig.byteSize, ByteBuffer.allocateDirect(0));
        }
    }

    @Test
    void sizesThatNobodyCanAllocateAreRefused() {
        try (Rig rig = OpenClRig.open()) {
            assertThatThrownBy(() -> rig.backend.allocate(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> rig.backend.allocate(2L << 30)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> rig.backend.allocateDevice(0)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void castsOfWhatIsNotOpenClAreRefused() {
        try (HostMemory plain = HostMemory.allocate(1)) {
            assertThatThrownBy(() -> OpenClDevice.mem(new NoMemory(plain)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** A fence of some other backend. */
    private static final class Strange extends Fence {
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
    }

    /** Memory of some other backend. */
    private record NoMemory(HostMemory plain) implements DeviceMemory {
        @Override
        public long byteSize() {
            return 1;
        }

        @Override
        public long handle() {
            return 0;
        }

        @Override
        public @Nullable Object nativeObject() {
            return null;
        }

        @Override
        public void close() {}
    }
}
