package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.Loader;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceLoaderContract;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.device.Pictures;
import dev.larder.testing.ChildJvm;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.awaitility.Awaitility;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_event;
import org.jocl.cl_mem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(300)
class DeviceLoaderOnOpenClTest extends DeviceLoaderContract {
    private final DeviceInfo first = new OpenClProvider().devices().get(0);
    private final OpenClOptions poisoned = OpenClOptions.DEFAULT.withPoison();

    @Override
    protected OpenClDevice device() {
        return OpenClDevice.of(first).with(poisoned);
    }

    @Override
    protected OpenClDevice device(Random random) {
        return OpenClDevice.of(first).with(poisoned.uploadPieceBytes(1000 << random.nextInt(12)));
    }

    @Override
    protected OpenClDevice limited(long memoryBytes, long maxAllocationBytes) {
        return OpenClDevice.of(first).with(poisoned.memoryBytes(memoryBytes).maxAllocationBytes(maxAllocationBytes));
    }

    @Override
    protected Map<?, ?> live() {
        return LiveObjects.count();
    }

    @Test
    void arraysThatStartBehindAPageAreReadInPlace() {
        try (Loader loader = pictures.loader()
                .device(device())
                .deviceMode(DeviceMode.RESIDENT)
                .deviceSlots(1)
                .build()) {
            assertThat(loader.deviceBytes())
                    .isLessThan(pictures.dataset.array("images").byteSize());
            assertThat(Pictures.sum(loader.epoch(3))).isEqualTo(pictures.sum(3));
        }
    }

    /** The consumer's queue stands still: what it was given must see each batch as it was, when it goes on. */
    @ParameterizedTest
    @EnumSource(
            value = DeviceMode.class,
            names = {"STREAM", "RESIDENT"})
    void slotsAreNotFilledAgainBeforeTheConsumersQueueIsDoneWithThem(DeviceMode mode) {
        List<ByteBuffer> expected =
                copies(pictures.loader().device(Device.host()).build(), 4);
        try (Loader loader = pictures.loader()
                .device(device())
                .deviceMode(mode)
                .deviceSlots(2)
                .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch batch = batches.next();
            cl_command_queue queue =
                    OpenClDevice.queue(batch.parts().get(0).queue().orElseThrow());
            Gate gate = Gate.before(queue);
            List<cl_mem> copies = new ArrayList<>();
            for (int i = 0; i < 4; i++, batch = i < 4 ? batches.next() : batch) {
                copies.add(gate.copy(batch.array("images")));
            }
            assertThat(batch.ready().isPassed())
                    .as("waits for the batch two before it")
                    .isFalse();
            gate.open();
            for (int i = 0; i < 4; i++) {
                assertThat(gate.read(copies.get(i), expected.get(i).remaining()))
                        .isEqualTo(expected.get(i));
            }
        }
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
    void aConsumersContextAndQueueAreUsedAndStayItsOwn() {
        try (Own own = Own.of(first)) {
            OpenClDevice device = OpenClDevice.of(own.context(), own.device(), own.queue());
            try (Loader loader = pictures.loader().device(device).build()) {
                assertThat(Pictures.sum(loader.epoch(0))).isEqualTo(pictures.sum(0));
                Batch batch = loader.epoch(1).iterator().next();
                assertThat(OpenClDevice.queue(batch.parts().get(0).queue().orElseThrow()))
                        .isEqualTo(own.queue());
                assertThat(batch.array("images").nativeObject()).isInstanceOf(cl_mem.class);
            }
            assertThat(CL.clFinish(own.queue())).isEqualTo(CL.CL_SUCCESS);
        }
    }

    @Test
    void anEventOfTheConsumersHoldsTheMemoryBack() {
        try (Own own = Own.of(first);
                Loader loader = pictures.loader()
                        .device(OpenClDevice.of(own.context(), own.device(), own.queue()))
                        .deviceSlots(1)
                        .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            cl_event gate = CL.clCreateUserEvent(own.context(), null);
            batches.next().release(OpenClDevice.fence(gate));
            Batch second = batches.next();
            assertThat(second.ready().isPassed()).isFalse();
            CL.clSetUserEventStatus(gate, CL.CL_COMPLETE);
            second.await(Duration.ofSeconds(10));
            CL.clReleaseEvent(gate);
        }
    }

    @Test
    void aConsumersEventThatFailedFailsTheLoaderNamingTheCode() {
        try (Own own = Own.of(first);
                Loader loader = pictures.loader()
                        .device(OpenClDevice.of(own.context(), own.device(), own.queue()))
                        .deviceSlots(1)
                        .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            cl_event gate = CL.clCreateUserEvent(own.context(), null);
            batches.next().release(OpenClDevice.fence(gate));
            batches.next();
            CL.clSetUserEventStatus(gate, -5);
            Awaitility.await()
                    .untilAsserted(
                            () -> assertThatThrownBy(() -> loader.epoch(1).forEach(batch -> {}))
                                    .isInstanceOf(LarderException.class)
                                    .hasMessageContaining("phase=")
                                    .hasMessageContaining("CL_"));
            CL.clReleaseEvent(gate);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DeviceMode.class,
            names = {"STREAM", "RESIDENT"})
    void aShutdownHookMayCloseALoaderInTheMidstOfAnEpoch(DeviceMode mode) {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        try (ChildJvm trainer = ChildJvm.start(
                classPath,
                ChildJvm.libraryFlags(),
                EndlessTrainer.class.getName(),
                pictures.store().toString(),
                mode.toString())) {
            assertThat(trainer.awaitLine()).isEqualTo("training");
            ProcessHandle.of(trainer.pid()).orElseThrow().destroy();

            assertThat(trainer.awaitExit()).as(trainer.errors()).isEqualTo(128 + 15);
            assertThat(trainer.remainingLines()).containsExactly("closed {}");
        }
    }

    @AfterEach
    void noThreadIsLeft() {
        assertThat(Thread.getAllStackTraces().keySet().stream().map(Thread::getName))
                .noneMatch(name -> name.startsWith("AsyncOpThread"));
    }

    /** A consumer's queue that stands still until the gate is opened. */
    private record Gate(cl_context context, cl_command_queue queue, cl_event event) {
        static Gate before(cl_command_queue queue) {
            cl_context context = new cl_context();
            CL.clGetCommandQueueInfo(queue, CL.CL_QUEUE_CONTEXT, org.jocl.Sizeof.cl_context, Pointer.to(context), null);
            cl_event event = CL.clCreateUserEvent(context, null);
            CL.clEnqueueBarrierWithWaitList(queue, 1, new cl_event[] {event}, null);
            return new Gate(context, queue, event);
        }

        cl_mem copy(BatchArray array) {
            cl_mem copy = CL.clCreateBuffer(context, CL.CL_MEM_READ_WRITE, array.byteSize(), null, null);
            cl_mem source = (cl_mem) array.nativeObject();
            CL.clEnqueueCopyBuffer(queue, source, copy, array.byteOffset(), 0, array.byteSize(), 0, null, null);
            return copy;
        }

        void open() {
            CL.clSetUserEventStatus(event, CL.CL_COMPLETE);
            CL.clReleaseEvent(event);
        }

        ByteBuffer read(cl_mem copy, int length) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(length);
            CL.clEnqueueReadBuffer(queue, copy, true, 0, length, Pointer.to(bytes), 0, null, null);
            CL.clReleaseMemObject(copy);
            return bytes;
        }
    }
}
