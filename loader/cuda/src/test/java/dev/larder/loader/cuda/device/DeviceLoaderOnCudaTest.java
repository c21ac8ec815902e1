package dev.larder.loader.cuda.device;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.Loader;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceLoaderContract;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import dev.larder.loader.device.Pictures;
import dev.larder.loader.internal.cuda.LibCuda;
import dev.larder.loader.internal.device.DeviceLimits;
import dev.larder.loader.internal.device.WorkQueue;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.agrona.BufferUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
@ExtendWith(CudaStub.class)
class DeviceLoaderOnCudaTest extends DeviceLoaderContract {
    static final DeviceLimits POISONED = new DeviceLimits(Long.MAX_VALUE, Long.MAX_VALUE, true, Duration.ofSeconds(30));
    private static final Duration SOON = Duration.ofSeconds(20);

    @Override
    protected CudaDevice device() {
        return CudaDevice.of(0).with(POISONED);
    }

    @Override
    protected CudaDevice limited(long memoryBytes, long maxAllocationBytes) {
        return CudaDevice.of(0).with(new DeviceLimits(memoryBytes, maxAllocationBytes, true, Duration.ofSeconds(30)));
    }

    @Override
    protected Map<?, ?> live() {
        return CudaStub.live();
    }

    /** Slow streams that nothing holds together but events: one that is missing shows as wrong bytes. */
    @ParameterizedTest
    @EnumSource(
            value = DeviceMode.class,
            names = {"STREAM", "RESIDENT"})
    void aSlowDeviceGivesTheSame(DeviceMode mode) {
        CudaStub.set("delay_us", 400);
        try (Loader loader = pictures.loader()
                .device(device())
                .deviceMode(mode)
                .deviceSlots(2)
                .build()) {
            assertThat(Pictures.sum(loader.epoch(1))).isEqualTo(pictures.sum(1));
        }
    }

    /** The consumer's stream stands still: what it was given must see each batch as it was, when it goes on. */
    @ParameterizedTest
    @EnumSource(
            value = DeviceMode.class,
            names = {"STREAM", "RESIDENT"})
    void slotsAreNotFilledAgainBeforeTheConsumersStreamIsDoneWithThem(DeviceMode mode) {
        List<ByteBuffer> expected =
                copies(pictures.loader().device(Device.host()).build(), 4);
        try (Loader loader = pictures.loader()
                .device(device())
                .deviceMode(mode)
                .deviceSlots(2)
                .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch batch = batches.next();
            DeviceQueue queue = batch.parts().get(0).queue().orElseThrow();
            CudaStub.hold(CudaDevice.stream(queue));
            List<ByteBuffer> copies = new ArrayList<>();
            for (int i = 0; i < 4; i++, batch = i < 4 ? batches.next() : batch) {
                copies.add(copy(batch.array("images"), CudaDevice.stream(queue)));
            }
            assertThat(batch.ready().isPassed())
                    .as("waits for the batch two before it")
                    .isFalse();
            CudaStub.open();
            assertThat(((WorkQueue) queue).drain(SOON)).isTrue();
            assertThat(copies).isEqualTo(expected);
        }
    }

    /** Copies an array in a stream, without waiting. */
    static ByteBuffer copy(BatchArray array, long stream) {
        ByteBuffer copy = ByteBuffer.allocateDirect((int) array.byteSize());
        inContext(() -> assertThat(
                        LibCuda.cuMemcpyDtoHAsync_v2(BufferUtil.address(copy), array.handle(), copy.capacity(), stream))
                .isZero());
        return copy;
    }

    /** Does something in the primary context, as a framework would. */
    static void inContext(Runnable work) {
        long[] context = new long[1];
        assertThat(LibCuda.cuDevicePrimaryCtxRetain(context, 0)).isZero();
        assertThat(LibCuda.cuCtxPushCurrent_v2(context[0])).isZero();
        work.run();
        assertThat(LibCuda.cuCtxPopCurrent_v2(context)).isZero();
        assertThat(LibCuda.cuDevicePrimaryCtxRelease_v2(0)).isZero();
    }

    private static List<ByteBuffer> copies(Loader loader, int count) {
        List<ByteBuffer> copies = new ArrayList<>();
        try (loader) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            for (int i = 0; i < count; i++) {
                BatchArray images = batches.next().array("images");
                ByteBuffer copy = ByteBuffer.allocateDirect((int) images.byteSize());
                images.read(copy);
                copies.add(copy.flip());
            }
        }
        return copies;
    }

    @Test
    void aConsumersStreamIsUsedAndStaysItsOwn() {
        inContext(
                () -> { // in which the stream is, so the consumer stays in it
                    long[] stream = new long[1];
                    assertThat(LibCuda.cuStreamCreate(stream, 1)).isZero();
                    try (Loader loader = pictures.loader()
                            .device(CudaDevice.of(0, stream[0]))
                            .build()) {
                        assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(pictures.sum(0));
                        Batch batch = loader.epoch(1).iterator().next();
                        assertThat(CudaDevice.stream(
                                        batch.parts().get(0).queue().orElseThrow()))
                                .isEqualTo(stream[0]);
                        assertThat(batch.array("images").handle()).isNotZero();
                    }
                    assertThat(LibCuda.cuStreamQuery(stream[0])).isZero();
                    assertThat(LibCuda.cuStreamDestroy_v2(stream[0])).isZero();
                });
    }

    @Test
    void anotherStreamOfTheConsumersHoldsTheMemoryBack() {
        try (Loader loader = pictures.loader().device(device()).deviceSlots(1).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch first = batches.next();
            DeviceQueue queue = first.parts().get(0).queue().orElseThrow();
            long defaultStream = 1;
            CudaDevice.await(queue, defaultStream, first.ready());
            CudaStub.hold(defaultStream);
            first.release(CudaDevice.fenceAfter(queue, defaultStream));
            Batch second = batches.next();
            assertThat(second.ready().isPassed()).isFalse();

            CudaStub.open();

            second.await(SOON);
        }
    }

    @Test
    void anEventOfTheConsumersIsAFence() {
        try (Loader loader = pictures.loader().device(device()).deviceSlots(1).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch batch = batches.next();
            DeviceQueue queue = batch.parts().get(0).queue().orElseThrow();
            long[] event = new long[1];
            CudaStub.hold(1);
            inContext(() -> {
                assertThat(LibCuda.cuEventCreate(event, 2)).isZero();
                assertThat(LibCuda.cuEventRecord(event[0], 1)).isZero();
            });
            Fence fence = CudaDevice.fence(queue, event[0]);
            assertThat(CudaDevice.event(fence)).isEqualTo(event[0]);
            assertThat(CudaDevice.event(Fence.passed())).isZero();

            batch.release(fence);
            Batch second = batches.next();
            assertThat(second.ready().isPassed()).isFalse();
            CudaStub.open();

            second.await(SOON);
            inContext(() -> assertThat(LibCuda.cuEventDestroy_v2(event[0])).isZero());
        }
    }

    @Test
    void whatWorksInTheMemoryOfTheHostReadsTheStoreInPlace() {
        CudaStub.set("integrated", 1);
        try (Loader loader =
                pictures.loader().device(device()).deviceMode(DeviceMode.AUTO).build()) {
            assertThat(loader.mode()).contains(DeviceMode.RESIDENT);
            assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(pictures.sum(0));
        }
    }
}
