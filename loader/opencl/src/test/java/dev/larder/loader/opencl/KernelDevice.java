package dev.larder.loader.opencl;

import static org.jocl.CL.CL_DEVICE_TYPE_ALL;
import static org.jocl.CL.CL_MEM_COPY_HOST_PTR;
import static org.jocl.CL.CL_MEM_READ_WRITE;
import static org.jocl.CL.CL_PROGRAM_BUILD_LOG;
import static org.jocl.CL.CL_SUCCESS;
import static org.jocl.CL.clBuildProgram;
import static org.jocl.CL.clCreateBuffer;
import static org.jocl.CL.clCreateCommandQueueWithProperties;
import static org.jocl.CL.clCreateContext;
import static org.jocl.CL.clCreateKernel;
import static org.jocl.CL.clCreateProgramWithSource;
import static org.jocl.CL.clEnqueueNDRangeKernel;
import static org.jocl.CL.clEnqueueReadBuffer;
import static org.jocl.CL.clGetDeviceIDs;
import static org.jocl.CL.clGetPlatformIDs;
import static org.jocl.CL.clGetProgramBuildInfo;
import static org.jocl.CL.clReleaseCommandQueue;
import static org.jocl.CL.clReleaseContext;
import static org.jocl.CL.clReleaseKernel;
import static org.jocl.CL.clReleaseMemObject;
import static org.jocl.CL.clReleaseProgram;
import static org.jocl.CL.clSetKernelArg;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jocl.Pointer;
import org.jocl.Sizeof;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_context_properties;
import org.jocl.cl_device_id;
import org.jocl.cl_kernel;
import org.jocl.cl_mem;
import org.jocl.cl_platform_id;
import org.jocl.cl_program;
import org.jocl.cl_queue_properties;

/** Builds and runs kernels on the first OpenCL device as plainly as can be. Closed by who opened it. */
final class KernelDevice implements AutoCloseable {
    static final byte POISON = (byte) 0xa5;

    private static final int GUARD_BYTES = 256;

    /** How many work items make a group; PoCL compiles a kernel anew for every other size. */
    private static final long[] GROUP = {8, 4};

    private final cl_context context;
    private final cl_command_queue queue;
    private final cl_device_id device;

    KernelDevice() {
        cl_platform_id[] platforms = new cl_platform_id[1];
        require(clGetPlatformIDs(1, platforms, null), "clGetPlatformIDs");
        cl_device_id[] devices = new cl_device_id[1];
        require(clGetDeviceIDs(platforms[0], CL_DEVICE_TYPE_ALL, 1, devices, null), "clGetDeviceIDs");
        device = devices[0];
        int[] code = new int[1];
        context = clCreateContext(new cl_context_properties(), 1, devices, null, null, code);
        require(code[0], "clCreateContext");
        queue = clCreateCommandQueueWithProperties(context, device, new cl_queue_properties(), code);
        require(code[0], "clCreateCommandQueueWithProperties");
    }

    /** Builds a program and takes one of its kernels. */
    Built build(String source, String function) {
        int[] code = new int[1];
        cl_program program = clCreateProgramWithSource(context, 1, new String[] {source}, null, code);
        require(code[0], "clCreateProgramWithSource");
        int result = clBuildProgram(program, 0, null, "-cl-std=CL1.2 -Werror", null, null);
        if (result != CL_SUCCESS) {
            byte[] log = new byte[1 << 16];
            clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.length, Pointer.to(log), null);
            throw new AssertionError(new String(log, StandardCharsets.UTF_8).trim() + "\n" + source);
        }
        cl_kernel kernel = clCreateKernel(program, function, code);
        require(code[0], "clCreateKernel");
        return new Built(program, kernel);
    }

    private static void require(int code, String call) {
        if (code != CL_SUCCESS) {
            throw new AssertionError(call + " failed: code=" + code);
        }
    }

    @Override
    public void close() {
        require(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
        require(clReleaseContext(context), "clReleaseContext");
    }

    /** A kernel, and how to run it. */
    final class Built implements AutoCloseable {
        private final cl_program program;
        private final cl_kernel kernel;

        private Built(cl_program program, cl_kernel kernel) {
            this.program = program;
            this.kernel = kernel;
        }

        /** Runs it, with more work items than there are parts and samples; what lies behind the target must stay as it was. */
        byte[] run(int[] numbers, int items, int samples, ByteBuffer control, int targetBytes, List<byte[]> sources) {
            List<cl_mem> memory = new ArrayList<>();
            byte[] target = new byte[targetBytes + GUARD_BYTES];
            Arrays.fill(target, POISON);
            byte[] controlBytes = new byte[Math.max(4, control.capacity())];
            control.duplicate().clear().get(controlBytes, 0, control.capacity());
            memory.add(copied(controlBytes));
            memory.add(copied(target));
            sources.forEach(source -> memory.add(copied(source)));
            int argument = 0;
            for (int number : numbers) {
                require(clSetKernelArg(kernel, argument++, 4, Pointer.to(new int[] {number})), "clSetKernelArg");
            }
            for (cl_mem piece : memory) {
                require(clSetKernelArg(kernel, argument++, Sizeof.cl_mem, Pointer.to(piece)), "clSetKernelArg");
            }
            long[] size = {roundedUp(items, GROUP[0]), roundedUp(samples, GROUP[1])};
            require(
                    clEnqueueNDRangeKernel(queue, kernel, 2, null, size, GROUP, 0, null, null),
                    "clEnqueueNDRangeKernel");
            require(
                    clEnqueueReadBuffer(
                            queue, memory.get(1), true, 0, target.length, Pointer.to(target), 0, null, null),
                    "clEnqueueReadBuffer");
            memory.forEach(piece -> require(clReleaseMemObject(piece), "clReleaseMemObject"));
            for (int i = targetBytes; i < target.length; i++) {
                if (target[i] != POISON) {
                    throw new AssertionError("written behind the target: byte=" + (i - targetBytes));
                }
            }
            return Arrays.copyOf(target, targetBytes);
        }

        private static long roundedUp(int count, long unit) {
            return (count / unit + 1) * unit;
        }

        private cl_mem copied(byte[] bytes) {
            int[] code = new int[1];
            long flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
            cl_mem memory = clCreateBuffer(context, flags, bytes.length, Pointer.to(bytes), code);
            require(code[0], "clCreateBuffer");
            return memory;
        }

        @Override
        public void close() {
            require(clReleaseKernel(kernel), "clReleaseKernel");
            require(clReleaseProgram(program), "clReleaseProgram");
        }
    }
}
