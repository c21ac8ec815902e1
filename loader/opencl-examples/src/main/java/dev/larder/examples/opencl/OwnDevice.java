package dev.larder.examples.opencl;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceChoice;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.opencl.OpenClDevice;
import dev.larder.loader.opencl.OpenClProvider;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jocl.CL;
import org.jocl.CLException;
import org.jocl.Pointer;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_context_properties;
import org.jocl.cl_device_id;
import org.jocl.cl_event;
import org.jocl.cl_mem;

/** A device with a context and queues that this program creates through OpenCL. Owns its memory. */
final class OwnDevice implements AutoCloseable {
    private final DeviceInfo info;
    private final cl_device_id device;
    private final cl_context context;
    private final cl_command_queue queue;
    private final cl_command_queue reads;
    private final Deque<cl_mem> memory = new ArrayDeque<>();

    private OwnDevice(DeviceInfo info, cl_device_id device, cl_context context) {
        this.info = info;
        this.device = device;
        this.context = context;
        this.queue = createQueue();
        this.reads = createQueue();
    }

    /** Opens a device by its index, a part of its name, or {@code auto}. */
    static OwnDevice open(String which) {
        DeviceChoice first = Device.opencl();
        DeviceChoice choice = which.equals("auto")
                ? first
                : which.matches("[0-9]{1,6}") ? first.index(Integer.parseInt(which)) : first.named(which);
        DeviceInfo info = choice.among(new OpenClProvider().devices())
                .orElseThrow(() -> Failure.of(ErrorCode.NOT_FOUND, "this trainer computes on OpenCL devices only")
                        .remedy("name one with --device, or unset LARDER_DEVICE"));
        CL.setExceptionsEnabled(true);
        cl_device_id id = OpenClDevice.id(info);
        cl_context context =
                CL.clCreateContext(new cl_context_properties(), 1, new cl_device_id[] {id}, null, null, null);
        try {
            return new OwnDevice(info, id, context);
        } catch (CLException e) {
            CL.clReleaseContext(context);
            throw e;
        }
    }

    @SuppressWarnings("deprecation") // the newer function is not in OpenCL 1.2
    private cl_command_queue createQueue() {
        return CL.clCreateCommandQueue(context, device, 0, null);
    }

    DeviceInfo info() {
        return info;
    }

    cl_device_id id() {
        return device;
    }

    cl_context context() {
        return context;
    }

    /** Returns the in-order queue for all computation. */
    cl_command_queue queue() {
        return queue;
    }

    /** Returns a device that makes a loader fill batches in this context and keep them until this queue has used them. */
    Device forLoader() {
        return OpenClDevice.of(context, device, queue);
    }

    /** Allocates a matrix of zeros. */
    Matrix zeros(int rows, int columns) {
        return matrix(rows, columns, new float[Math.multiplyExact(rows, columns)]);
    }

    /** Allocates a matrix with these elements, row by row. */
    Matrix matrix(int rows, int columns, float[] elements) {
        FloatBuffer buffer = floats(Math.multiplyExact(rows, columns)).put(0, elements);
        long flags = CL.CL_MEM_READ_WRITE | CL.CL_MEM_COPY_HOST_PTR;
        cl_mem created = CL.clCreateBuffer(context, flags, 4L * elements.length, Pointer.to(buffer), null);
        memory.push(created);
        return Matrix.of(created, rows, columns);
    }

    /** Returns an event that completes when all work in the queue is done. The caller releases it. */
    cl_event mark() {
        cl_event event = new cl_event();
        CL.clEnqueueMarkerWithWaitList(queue, 0, null, event);
        CL.clFlush(queue);
        return event;
    }

    /** Copies a matrix, row by row, without waiting for the computing queue. No kernel may still write the matrix. */
    void read(Matrix from, FloatBuffer target) {
        CL.clEnqueueReadBuffer(reads, from.memory(), true, 0, 4L * from.size(), Pointer.to(target), 0, null, null);
    }

    /** Waits for all computation, then copies a matrix, row by row. */
    float[] finish(Matrix from) {
        CL.clFinish(queue);
        FloatBuffer buffer = floats(from.size());
        read(from, buffer);
        float[] elements = new float[from.size()];
        buffer.get(0, elements);
        return elements;
    }

    static FloatBuffer floats(int count) {
        return ByteBuffer.allocateDirect(Math.multiplyExact(4, count))
                .order(ByteOrder.nativeOrder())
                .asFloatBuffer();
    }

    /** Waits for all computation, then releases everything. */
    @Override
    public void close() {
        try {
            CL.clFinish(queue);
        } finally {
            memory.forEach(CL::clReleaseMemObject);
            memory.clear();
            CL.clReleaseCommandQueue(reads);
            CL.clReleaseCommandQueue(queue);
            CL.clReleaseContext(context);
        }
    }
}
