package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.loader.device.Fence;
import dev.larder.loader.device.Rig;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceMemory;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.Sizeof;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_device_id;
import org.jocl.cl_event;
import org.jocl.cl_mem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(300)
@ExtendWith(LeavesNoObjects.class)
class OpenClDeviceTest {
    private final cl_device_id device = OpenClDevices.list().get(0).device();
    private cl_context context = new cl_context();
    private cl_command_queue queue = new cl_command_queue();

    @BeforeEach
    @SuppressWarnings("deprecation") // the newer function is not in OpenCL 1.2
    void createWhatTheConsumerHas() {
        context = CL.clCreateContext(null, 1, new cl_device_id[] {device}, null, null, null);
        queue = CL.clCreateCommandQueue(context, device, 0, null);
    }

    @AfterEach
    void releaseWhatTheConsumerHas() {
        assertThat(references()).isEqualTo(1);
        CL.clReleaseCommandQueue(queue);
        CL.clReleaseContext(context);
    }

    private int references() {
        int[] count = new int[1];
        CL.clGetCommandQueueInfo(queue, CL.CL_QUEUE_REFERENCE_COUNT, Integer.BYTES, Pointer.to(count), null);
        return count[0];
    }

    @Test
    void batchesComeToAContextAndQueueOfTheConsumer() {
        try (Rig rig = new Rig(OpenClDevice.of(context, device, queue).open(), 100)) {
            byte[] rows = Rig.random(rig.byteSize, 1);

            assertThat(rig.run(rows)).isEqualTo(rows);
            assertThat(OpenClDevice.queue(rig.backend.consumer())).isEqualTo(queue);
            assertThat(Gate.context(rig.backend)).isEqualTo(context);
            assertThat(rig.backend.info()).isEqualTo(OpenClRig.info());
        }
    }

    @Test
    void theConsumersOwnCommandsWaitForTheBatch() {
        try (Rig rig = new Rig(OpenClDevice.of(context, device, queue).open(), 100);
                Gate gate = new Gate(rig.backend).before(rig.backend.uploads());
                Fence ready = rig.submit(Rig.random(rig.byteSize, 1));
                DeviceMemory copy = rig.backend.allocateDevice(rig.byteSize)) {
            rig.backend.consumer().waitFor(ready);
            cl_mem from = OpenClDevice.mem(rig.target);
            cl_event copied = new cl_event();
            CL.clEnqueueCopyBuffer(queue, from, OpenClDevice.mem(copy), 0, 0, rig.byteSize, 0, null, copied);

            gate.open();

            try (Fence done = OpenClDevice.fence(copied)) {
                CL.clReleaseEvent(copied);
                done.await(Rig.SOON);
            }
            assertThat(rig.read(copy)).isEqualTo(Rig.random(rig.byteSize, 1));
        }
    }

    @Test
    void theLoaderWaitsForAnEventOfTheConsumer() {
        try (Rig rig = new Rig(OpenClDevice.of(context, device, queue).open(), 100);
                Gate lastUse = new Gate(rig.backend)) {
            rig.run(Rig.random(rig.byteSize, 1));
            try (Fence used = lastUse.fence()) {
                rig.backend.kernels().waitFor(used);
            }

            try (Fence next = rig.submit(Rig.random(rig.byteSize, 2))) {
                assertThat(rig.read(rig.target)).isEqualTo(Rig.random(rig.byteSize, 1));
                lastUse.open();
                next.await(Rig.SOON);
            }
            assertThat(rig.read(rig.target)).isEqualTo(Rig.random(rig.byteSize, 2));
        }
    }

    @Test
    void aQueueOfAnotherContextIsRefused() {
        cl_context other = CL.clCreateContext(null, 1, new cl_device_id[] {device}, null, null, null);
        try {
            OpenClDevice wrong = OpenClDevice.of(other, device, queue);

            assertThatThrownBy(wrong::open).isInstanceOf(IllegalArgumentException.class);
        } finally {
            CL.clReleaseContext(other);
        }
    }

    @Test
    void theConsumersUnfinishedWorkDoesNotHoldUpTheEnd() {
        cl_event never = CL.clCreateUserEvent(context, null);
        DeviceBackend backend = OpenClDevice.of(context, device, queue).open();
        cl_event waiting = new cl_event();
        CL.clEnqueueMarkerWithWaitList(queue, 1, new cl_event[] {never}, waiting);

        assertThatCode(backend::close).doesNotThrowAnyException();

        CL.clSetUserEventStatus(never, CL.CL_COMPLETE);
        CL.clWaitForEvents(1, new cl_event[] {waiting});
        CL.clReleaseEvent(waiting);
        CL.clReleaseEvent(never);
    }

    @Test
    void twoLoadersMayShareAContext() {
        try (Rig first = new Rig(OpenClDevice.of(context, device, queue).open(), 100);
                Rig second = new Rig(OpenClDevice.of(context, device, queue).open(), 100);
                Fence done = first.submit(Rig.random(first.byteSize, 1))) {
            second.backend.kernels().waitFor(done);

            assertThat(second.run(Rig.random(second.byteSize, 2))).isEqualTo(Rig.random(second.byteSize, 2));
            done.await(Rig.SOON);
        }
    }

    @Test
    void pointersHaveTheSizeThatDevicesExpect() {
        assertThat(Sizeof.cl_mem).isEqualTo(Long.BYTES);
    }
}
