package dev.larder.loader.cuda.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Function;
import com.sun.jna.Pointer;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Pictures;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.transform.Transform;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(60)
@ExtendWith(CudaStub.class)
class DlpackTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private final Pictures pictures = new Pictures();

    private Loader onDevice(int slots) {
        return pictures.loader()
                .device(CudaDevice.of(0))
                .deviceMode(DeviceMode.STREAM)
                .deviceSlots(slots)
                .build();
    }

    private static Batch first(Loader loader) {
        return loader.epoch(0).iterator().next();
    }

    /** Does what a framework does with a tensor at the end of its life. */
    private static void delete(long tensor, long deleter) {
        Function.getFunction(new Pointer(tensor).getPointer(deleter)).invokeVoid(new Object[] {new Pointer(tensor)});
    }

    private static void delete(long tensor) {
        delete(tensor, 56);
    }

    @Test
    void aTensorIsWhatTheHeaderOfDlpackSays() {
        try (Loader loader = onDevice(2)) {
            Batch batch = first(loader);
            long tensor;
            try (Dlpack tensors = Dlpack.of(batch)) {
                tensor = tensors.tensor("images");
            }
            Pointer struct = new Pointer(tensor);
            assertThat(struct.getLong(0)).isEqualTo(batch.array("images").handle());
            assertThat(struct.getInt(8)).as("kDLCUDA").isEqualTo(2);
            assertThat(struct.getInt(12)).isZero();
            assertThat(struct.getInt(16)).isEqualTo(4);
            assertThat(struct.getInt(20)).as("float, 32 bits, one lane").isEqualTo(2 | 32 << 8 | 1 << 16);
            assertThat(struct.getPointer(24).getLongArray(0, 4)).containsExactly(48, 3, 10, 10);
            assertThat(struct.getPointer(32).getLongArray(0, 4)).containsExactly(300, 100, 10, 1);
            assertThat(struct.getLong(40)).isZero();
            assertThat(batch.isOpen()).isTrue();

            delete(tensor);

            assertThat(batch.isOpen()).isFalse();
        }
    }

    @Test
    void aVersionedTensorIsTheSameInAnotherOrder() {
        try (Loader loader = pictures.loader().build()) {
            Batch batch = first(loader);
            long tensor;
            try (Dlpack tensors = Dlpack.of(batch)) {
                tensor = tensors.versionedTensor("labels");
            }
            Pointer struct = new Pointer(tensor);
            assertThat(struct.getInt(0)).as("major").isEqualTo(1);
            assertThat(struct.getLong(24)).as("flags").isZero();
            assertThat(struct.getLong(32)).isEqualTo(batch.array("labels").handle());
            assertThat(struct.getInt(40)).as("kDLCPU").isEqualTo(1);
            assertThat(struct.getInt(48)).isEqualTo(1);
            assertThat(struct.getInt(52)).as("int, 32 bits, one lane").isEqualTo(32 << 8 | 1 << 16);
            assertThat(struct.getPointer(56).getLong(0)).isEqualTo(48);
            assertThat(struct.getPointer(64).getLong(0)).isEqualTo(1);

            delete(tensor, 16);

            assertThat(batch.isOpen()).isFalse();
        }
    }

    @Test
    void aBatchStaysUntilTheLastTensorIsGoneFromWhateverThread() throws Exception {
        try (Loader loader = onDevice(3)) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch batch = batches.next();
            Dlpack tensors = Dlpack.of(batch);
            long images = tensors.tensor("images");
            long again = tensors.tensor("images");
            long labels = tensors.versionedTensor("labels");
            batches.next();
            delete(images);
            tensors.close();
            tensors.close();
            delete(labels, 16);
            assertThat(batch.isOpen()).isTrue();
            assertThatThrownBy(() -> tensors.tensor("images")).isInstanceOf(IllegalStateException.class);

            CompletableFuture.runAsync(() -> delete(again)).get(10, TimeUnit.SECONDS);

            assertThat(batch.isOpen()).isFalse();
            assertThat(DlpackStruct.live()).isZero();
            batches.next().await(SOON);
        }
    }

    /** With slow streams: what is given to the framework's at once sees the whole batch, and none of the next one in its slot. */
    @Test
    void theConsumersStreamComesAfterTheBatchAndBeforeTheNextUseOfItsSlot() {
        ByteBuffer expected;
        try (Loader loader = onDevice(1)) {
            Batch batch = first(loader);
            expected = ByteBuffer.allocateDirect((int) batch.array("images").byteSize());
            batch.array("images").read(expected);
            expected.flip();
        }
        CudaStub.set("delay_us", 20_000);
        long stream = 1;
        try (Loader loader = onDevice(1)) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch batch = batches.next();
            DeviceQueue queue = batch.parts().get(0).queue().orElseThrow();
            long tensor;
            ByteBuffer copy;
            ByteBuffer late;
            try (Dlpack tensors = Dlpack.of(batch, stream)) {
                tensor = tensors.tensor("images");
                copy = DeviceLoaderOnCudaTest.copy(batch.array("images"), stream);
                CudaStub.hold(stream);
                late = DeviceLoaderOnCudaTest.copy(batch.array("images"), stream);
            }
            delete(tensor);
            Batch second = batches.next();
            assertThatThrownBy(() -> second.await(Duration.ofMillis(300)))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE));

            CudaStub.open();

            second.await(SOON);
            CudaDevice.fenceAfter(queue, stream).await(SOON);
            assertThat(copy).isEqualTo(expected);
            assertThat(late).isEqualTo(expected);
        }
    }

    @Test
    void aLoaderThatIsClosedUnderATensorLeavesItsMemory() {
        Loader loader = onDevice(2);
        Batch batch = first(loader);
        Dlpack tensors = Dlpack.of(batch);
        long tensor = tensors.tensor("images");
        tensors.close();

        assertThatThrownBy(loader::close)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE))
                .hasMessageContaining("batches in flight or held by the consumer");
        assertThat(batch.array("images").handle()).isEqualTo(new Pointer(tensor).getLong(0));

        delete(tensor);
        assertThat(batch.isOpen()).isFalse();
        CudaStub.leaveAsItIs();
    }

    @Test
    void onTheHostATensorOutlivesItsLoader() {
        long tensor;
        byte[] expected;
        try (Loader loader = pictures.loader().build()) {
            Batch batch = first(loader);
            expected = new byte[(int) batch.array("images").byteSize()];
            batch.array("images").buffer().getBytes(0, expected);
            try (Dlpack tensors = Dlpack.of(batch)) {
                tensor = tensors.tensor("images");
            }
        }
        System.gc();

        assertThat(new Pointer(tensor).getPointer(0).getByteArray(0, expected.length))
                .isEqualTo(expected);
        delete(tensor);
        assertThat(DlpackStruct.live()).isZero();
    }

    @Test
    void whatDlpackHasNoNameForIsRefusedAndHoldsNothing() {
        try (Loader loader = pictures.loader()
                .transform("labels", new Transform().cast(">i4"))
                .build()) {
            Batch batch = first(loader);
            try (Dlpack tensors = Dlpack.of(batch)) {
                assertThatThrownBy(() -> tensors.tensor("labels"))
                        .isInstanceOfSatisfying(
                                LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                        .hasMessageContaining("DLPack does not have this type: array=labels dtype=>i4");
            }
            assertThat(batch.isOpen()).isFalse();
        }
    }

    @Test
    void streamsThatCannotOrderAnythingAreRefused() {
        try (Loader loader = onDevice(2);
                Loader host = pictures.loader().build()) {
            Batch batch = first(loader);
            Batch onHost = first(host);

            assertThatThrownBy(() -> Dlpack.of(batch, 2)).hasMessageContaining("pass 1, the default stream");
            assertThatThrownBy(() -> Dlpack.of(batch, 1, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> Dlpack.of(onHost, 1)).hasMessageContaining("host memory has no streams");
            assertThat(batch.isOpen()).isTrue();
        }
    }

    @Test
    void memoryOfOtherDevicesIsRefused() {
        try (Loader loader = pictures.loader().device(new FakeDevice()).build()) {
            Batch batch = first(loader);
            try (Dlpack tensors = Dlpack.of(batch)) {
                assertThatThrownBy(() -> tensors.tensor("images"))
                        .hasMessageContaining("frameworks cannot take memory of this device");
            }
        }
    }

    @AfterEach
    void close() {
        pictures.close();
    }
}
