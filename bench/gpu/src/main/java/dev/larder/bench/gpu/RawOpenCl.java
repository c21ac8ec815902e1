package dev.larder.bench.gpu;

import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.opencl.OpenClDevice;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.Sizeof;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_device_id;
import org.jocl.cl_event;
import org.jocl.cl_kernel;
import org.jocl.cl_mem;
import org.jocl.cl_program;
import org.jspecify.annotations.Nullable;

/** Calls OpenCL without the loader, in the context of an open device: other ways to upload, and copies within the device. */
final class RawOpenCl implements AutoCloseable {
    private static final String COPY =
            "kernel void copy(global const uint4 *from, global uint4 *to) { size_t i = get_global_id(0); to[i] = from[i]; }";
    private static final int COPIED_PER_ITEM = 16;

    private final cl_command_queue queue;
    private final cl_context context = new cl_context();
    private final cl_device_id device = new cl_device_id();
    private final List<cl_mem> buffers = new ArrayList<>();

    /** Uses the consumer's queue of a device. Owns all other objects. */
    RawOpenCl(DeviceBackend backend) {
        queue = OpenClDevice.queue(backend.consumer());
        check(CL.clGetCommandQueueInfo(queue, CL.CL_QUEUE_CONTEXT, Sizeof.POINTER, Pointer.to(context), null));
        check(CL.clGetCommandQueueInfo(queue, CL.CL_QUEUE_DEVICE, Sizeof.POINTER, Pointer.to(device), null));
    }

    /** Throws if an OpenCL call failed. */
    static void check(int code) {
        if (code != CL.CL_SUCCESS) {
            throw new IllegalStateException("OpenCL call failed: code=" + CL.stringFor_errorCode(code));
        }
    }

    /** Returns the device's extensions, separated by spaces. */
    String extensions() {
        long[] length = new long[1];
        check(CL.clGetDeviceInfo(device, CL.CL_DEVICE_EXTENSIONS, 0, null, length));
        byte[] text = new byte[(int) length[0]];
        check(CL.clGetDeviceInfo(device, CL.CL_DEVICE_EXTENSIONS, text.length, Pointer.to(text), null));
        return new String(text, StandardCharsets.US_ASCII).replace('\0', ' ').strip();
    }

    /** Host memory that the driver has locked and mapped. */
    record Locked(cl_mem buffer, ByteBuffer bytes) {}

    /** Allocates host memory with the driver until {@link #free}. */
    Locked allocateLocked(long byteSize) {
        cl_mem buffer = create(CL.CL_MEM_READ_WRITE | CL.CL_MEM_ALLOC_HOST_PTR, byteSize, null);
        int[] code = new int[1];
        ByteBuffer bytes = CL.clEnqueueMapBuffer(
                queue, buffer, true, CL.CL_MAP_READ | CL.CL_MAP_WRITE, 0, byteSize, 0, null, null, code);
        check(code[0]);
        for (int at = 0; at + Integer.BYTES <= byteSize; at += Integer.BYTES) {
            bytes.putInt(at, at * 0x9E3779B9);
        }
        return new Locked(buffer, bytes);
    }

    /** Allocates device memory until {@link #free}. */
    cl_mem allocate(long byteSize) {
        return create(CL.CL_MEM_READ_WRITE, byteSize, null);
    }

    /** Creates a buffer over host pages, which lasts until {@link #free}. */
    cl_mem wrap(ByteBuffer pages) {
        return create(CL.CL_MEM_READ_ONLY | CL.CL_MEM_USE_HOST_PTR, pages.remaining(), Pointer.to(pages));
    }

    private cl_mem create(long flags, long byteSize, @Nullable Pointer host) {
        int[] code = new int[1];
        cl_mem buffer = CL.clCreateBuffer(context, flags, byteSize, host, code);
        check(code[0]);
        buffers.add(buffer);
        return buffer;
    }

    /** Writes from a direct buffer, which must begin at position 0, and waits in the call. */
    void write(cl_mem to, ByteBuffer from, long byteSize) {
        check(CL.clEnqueueWriteBuffer(queue, to, true, 0, byteSize, Pointer.to(from), 0, null, null));
    }

    /** Copies from one buffer to another, and waits. */
    void copyBuffer(cl_mem from, cl_mem to, long byteSize) {
        cl_event done = new cl_event();
        check(CL.clEnqueueCopyBuffer(queue, from, to, 0, 0, byteSize, 0, null, done));
        check(CL.clWaitForEvents(1, new cl_event[] {done}));
        CL.clReleaseEvent(done);
    }

    /** Measures a kernel that copies device memory; returns the bytes read and written, in GB/s. */
    double copyRate(Scale scale, long byteSize) throws Exception {
        int[] code = new int[1];
        cl_program program = CL.clCreateProgramWithSource(context, 1, new String[] {COPY}, null, code);
        check(code[0]);
        check(CL.clBuildProgram(program, 1, new cl_device_id[] {device}, null, null, null));
        cl_kernel kernel = CL.clCreateKernel(program, "copy", code);
        check(code[0]);
        try {
            CL.clSetKernelArg(kernel, 0, Sizeof.cl_mem, Pointer.to(allocate(byteSize)));
            CL.clSetKernelArg(kernel, 1, Sizeof.cl_mem, Pointer.to(allocate(byteSize)));
            long[] items = {byteSize / COPIED_PER_ITEM};
            long times = 4;
            return Timing.gigabytesPerSecond(scale, 2 * times * byteSize, () -> {
                for (long i = 0; i < times; i++) {
                    check(CL.clEnqueueNDRangeKernel(queue, kernel, 1, null, items, new long[] {256}, 0, null, null));
                }
                check(CL.clFinish(queue));
            });
        } finally {
            CL.clReleaseKernel(kernel);
            CL.clReleaseProgram(program);
            free();
        }
    }

    /** Frees all memory that was allocated here. */
    void free() {
        check(CL.clFinish(queue));
        buffers.forEach(CL::clReleaseMemObject);
        buffers.clear();
    }

    @Override
    public void close() {
        free();
    }

    /** Blocks a queue until it is opened. */
    static final class Gate {
        private final cl_event event;

        Gate(cl_command_queue queue) {
            cl_context context = new cl_context();
            check(CL.clGetCommandQueueInfo(queue, CL.CL_QUEUE_CONTEXT, Sizeof.POINTER, Pointer.to(context), null));
            event = CL.clCreateUserEvent(context, null);
            check(CL.clEnqueueBarrierWithWaitList(queue, 1, new cl_event[] {event}, null));
        }

        void open() {
            check(CL.clSetUserEventStatus(event, CL.CL_COMPLETE));
            CL.clReleaseEvent(event);
        }
    }
}
