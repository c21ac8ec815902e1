package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.device.Fence;
import dev.larder.loader.device.Rig;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource.Rows;
import dev.larder.loader.internal.transform.SampleKernel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jocl.CL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(LeavesNoObjects.class)
class OpenClRoundTripTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 64, 255, 256, 257, 5000})
    void rowsOfAnySizeGoThereAndBack(int rowBytes) {
        try (Rig rig = new Rig(OpenClRig.openBackend(OpenClOptions.DEFAULT), rowBytes)) {
            byte[] rows = Rig.random(rig.byteSize, rowBytes);

            assertThat(rig.run(rows)).isEqualTo(rows);
        }
    }

    @Test
    void oneSetOfBuffersServesManyBatches() {
        try (Rig rig = OpenClRig.open()) {
            for (int batch = 0; batch < 50; batch++) {
                byte[] rows = Rig.random(rig.byteSize, batch);

                assertThat(rig.run(rows)).isEqualTo(rows);
            }
        }
    }

    @Test
    void aKernelWritesNoMoreThanItsSamples() {
        try (Rig rig = OpenClRig.open()) {
            byte[] rows = Rig.random(rig.byteSize, 1);
            rig.run(rows);
            rig.submit(Rig.random(rig.byteSize, 2)).close();
            try (DeviceMemory other = rig.backend.allocateDevice(rig.byteSize);
                    DeviceKernel.Call call = rig.backend
                            .compile(Rig.copy(rig.rowBytes, Rows.staged()))
                            .bind(null, other, List.of(rig.stored))) {
                rig.backend.kernels().launch(call, 3);
                Rig.pass(rig.backend.kernels(), rig.backend.consumer());

                byte[] read = rig.read(other);

                assertThat(Arrays.copyOf(read, 300)).isEqualTo(Arrays.copyOf(Rig.random(rig.byteSize, 2), 300));
                assertThat(Arrays.copyOfRange(read, 300, read.length)).containsOnly(0xA5);
            }
        }
    }

    @Test
    void uploadsInSmallPiecesAreTheSame() {
        try (Rig rig = new Rig(OpenClRig.openBackend(OpenClOptions.DEFAULT.uploadPieceBytes(37)), 100)) {
            byte[] rows = Rig.random(rig.byteSize, 5);

            assertThat(rig.run(rows)).isEqualTo(rows);
        }
    }

    @Test
    void moreSamplesThanOneLaunchTakesAreDoneInSeveral() {
        int rowBytes = 256;
        int samples = 65_535 + 100;
        byte[] rows = Rig.random(samples * rowBytes, 4);
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT);
                HostMemory staging = backend.allocate(rows.length);
                DeviceMemory stored = backend.allocateDevice(rows.length);
                DeviceMemory target = backend.allocateDevice(rows.length);
                DeviceKernel.Call call =
                        backend.compile(Rig.copy(rowBytes, Rows.staged())).bind(null, target, List.of(stored))) {
            staging.bytes().put(0, rows);
            backend.uploads().upload(staging, 0, stored, 0, rows.length);
            Rig.pass(backend.uploads(), backend.kernels());
            backend.kernels().launch(call, samples);
            Rig.pass(backend.kernels(), backend.consumer());

            assertThat(Arrays.equals(Rig.read(backend, target), rows)).isTrue();
        }
    }

    @Test
    void partsAreUploadedFromAndToTheirOffsets() {
        try (Rig rig = OpenClRig.open()) {
            byte[] rows = Rig.random(rig.byteSize, 6);
            rig.staging.bytes().put(0, rows);
            rig.backend.uploads().upload(rig.staging, 1000, rig.stored, 500, 250);
            Rig.pass(rig.backend.uploads(), rig.backend.consumer());
            ByteBuffer part = ByteBuffer.allocateDirect(400).position(10).limit(270);

            rig.backend.consumer().read(rig.stored, 495, part);

            byte[] read = new byte[260];
            part.get(10, read);
            assertThat(Arrays.copyOfRange(read, 5, 255)).isEqualTo(Arrays.copyOfRange(rows, 1000, 1250));
            assertThat(read[4]).isEqualTo((byte) 0xA5);
            assertThat(read[255]).isEqualTo((byte) 0xA5);
            assertThat(part.get(9)).isZero();
        }
    }

    @Test
    void plainHostMemoryIsUploadedToo() {
        try (Rig rig = OpenClRig.open();
                HostMemory plain = HostMemory.allocate(rig.byteSize)) {
            byte[] rows = Rig.random(rig.byteSize, 7);
            plain.bytes().put(0, rows);

            rig.backend.uploads().upload(plain, 0, rig.stored, 0, rows.length);

            Rig.pass(rig.backend.uploads(), rig.backend.consumer());
            assertThat(rig.read(rig.stored)).isEqualTo(rows);
        }
    }

    @Test
    void residentRowsAreFoundInTheirShards() {
        int rowBytes = 48;
        int rowsPerShard = 30;
        byte[] all = Rig.random(100 * rowBytes, 8);
        long[] wanted = {99, 0, 29, 30, 59, 60, 89, 90, 5};
        try (DeviceBackend backend =
                OpenClRig.openBackend(OpenClOptions.DEFAULT.maxAllocationBytes((long) rowsPerShard * rowBytes))) {

            byte[] read = gather(backend, all, wanted, rowsPerShard);

            for (int i = 0; i < wanted.length; i++) {
                int from = (int) wanted[i] * rowBytes;
                assertThat(Arrays.copyOfRange(read, i * rowBytes, (i + 1) * rowBytes))
                        .isEqualTo(Arrays.copyOfRange(all, from, from + rowBytes));
            }
        }
    }

    private static byte[] gather(DeviceBackend backend, byte[] all, long[] wanted, int rowsPerShard) {
        int rowBytes = all.length / 100;
        List<DeviceMemory> shards = new ArrayList<>();
        try (HostMemory staging = backend.allocate(all.length);
                DeviceMemory target = backend.allocateDevice((long) wanted.length * rowBytes);
                DeviceMemory control = backend.allocateDevice((long) wanted.length * Long.BYTES)) {
            staging.bytes().put(0, all);
            int shardBytes = rowsPerShard * rowBytes;
            for (int from = 0; from < all.length; from += shardBytes) {
                int length = Math.min(shardBytes, all.length - from);
                shards.add(backend.allocateDevice(length));
                backend.uploads().upload(staging, from, shards.get(shards.size() - 1), 0, length);
            }
            await(backend);
            for (int i = 0; i < wanted.length; i++) {
                staging.bytes().order(ByteOrder.nativeOrder()).putLong(i * Long.BYTES, wanted[i]);
            }
            backend.uploads().upload(staging, 0, control, 0, control.byteSize());
            Rig.pass(backend.uploads(), backend.kernels());
            launch(backend, Rig.copy(rowBytes, Rows.resident(rowsPerShard, shards.size())), control, target, shards);
            return Rig.read(backend, target);
        } finally {
            shards.forEach(DeviceMemory::close);
        }
    }

    private static void launch(
            DeviceBackend backend,
            SampleKernel kernel,
            DeviceMemory control,
            DeviceMemory target,
            List<DeviceMemory> shards) {
        try (DeviceKernel.Call call = backend.compile(kernel).bind(control, target, shards)) {
            backend.kernels().launch(call, (int) (control.byteSize() / Long.BYTES));
            Rig.pass(backend.kernels(), backend.consumer());
        }
    }

    private static void await(DeviceBackend backend) {
        try (Fence done = backend.uploads().fence()) {
            done.await(Rig.SOON);
        }
    }

    @Test
    void joclMayThrowExceptionsOrNot() {
        CL.setExceptionsEnabled(true);
        try (Rig rig = OpenClRig.open()) {
            byte[] rows = Rig.random(rig.byteSize, 9);

            assertThat(rig.run(rows)).isEqualTo(rows);
        } finally {
            CL.setExceptionsEnabled(false);
        }
    }
}
