package dev.larder.examples.opencl;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.Sizeof;
import org.jocl.cl_command_queue;
import org.jocl.cl_device_id;
import org.jocl.cl_kernel;
import org.jocl.cl_mem;
import org.jocl.cl_program;
import org.jspecify.annotations.Nullable;

/** The kernels of {@code mlp.cl}, compiled for a device. Methods queue work and do not wait. Not thread-safe. */
final class Kernels implements AutoCloseable {
    private static final String SOURCE = "mlp.cl";
    private static final int LARGEST_TILE = 32;
    private static final int SMALLEST_TILE = 4;

    private final cl_command_queue queue;
    private final cl_program program;
    private final Map<String, cl_kernel> kernels = new HashMap<>();
    private final int tile;

    private Kernels(OwnDevice device, int tile) {
        this.queue = device.queue();
        this.tile = tile;
        String[] source = {source()};
        this.program = CL.clCreateProgramWithSource(device.context(), 1, source, null, null);
        CL.clBuildProgram(program, 1, new cl_device_id[] {device.id()}, "-DTILE=" + tile, null, null);
    }

    /** Compiles the kernels for the largest work-groups of the device, up to a limit. */
    static Kernels compile(OwnDevice device) {
        for (int tile = LARGEST_TILE; tile > SMALLEST_TILE; tile /= 2) {
            Kernels kernels = new Kernels(device, tile);
            if (kernels.largestGroup(device.id()) >= kernels.group() * kernels.group()) {
                return kernels;
            }
            kernels.close();
        }
        return new Kernels(device, SMALLEST_TILE);
    }

    private static String source() {
        try (InputStream in = Objects.requireNonNull(Kernels.class.getResourceAsStream(SOURCE), SOURCE)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long largestGroup(cl_device_id device) {
        long[] size = new long[1];
        CL.clGetKernelWorkGroupInfo(
                kernel("multiply"), device, CL.CL_KERNEL_WORK_GROUP_SIZE, Sizeof.size_t, Pointer.to(size), null);
        return size[0];
    }

    private cl_kernel kernel(String name) {
        return kernels.computeIfAbsent(name, missing -> CL.clCreateKernel(program, missing, null));
    }

    /** Multiplies two matrices, each plain or transposed. The rows of the product are contiguous. */
    void multiply(Matrix a, Matrix b, Matrix product) {
        if (a.columns() != b.rows() || a.rows() != product.rows() || b.columns() != product.columns()) {
            throw new IllegalArgumentException("shapes of matrices do not match: " + a + " " + b + " " + product);
        }
        long[] global = {group() * tiles(product.columns()), group() * tiles(product.rows())};
        long[] local = {group(), group()};
        Object[] arguments = {
            a.rows(), b.columns(), a.columns(),
            a.memory(), a.rowStep(), a.columnStep(),
            b.memory(), b.rowStep(), b.columnStep(),
            product.memory()
        };
        launch("multiply", global, local, arguments);
    }

    /** Returns the number of work-items of a tile in each dimension; each computes four elements. */
    private long group() {
        return tile / 4;
    }

    private long tiles(int size) {
        return (size + tile - 1L) / tile;
    }

    /** Runs a kernel with {@code size} work-items. Arguments are integers, floats, memory and matrices. */
    void run(String name, int size, Object... arguments) {
        launch(name, new long[] {size}, null, arguments);
    }

    private void launch(String name, long[] global, long @Nullable [] local, Object... arguments) {
        cl_kernel kernel = kernel(name);
        for (int i = 0; i < arguments.length; i++) {
            set(kernel, i, arguments[i]);
        }
        CL.clEnqueueNDRangeKernel(queue, kernel, global.length, null, global, local, 0, null, null);
    }

    private static void set(cl_kernel kernel, int index, Object argument) {
        if (argument instanceof Integer number) {
            CL.clSetKernelArg(kernel, index, Sizeof.cl_int, Pointer.to(new int[] {number}));
        } else if (argument instanceof Float number) {
            CL.clSetKernelArg(kernel, index, Sizeof.cl_float, Pointer.to(new float[] {number}));
        } else {
            cl_mem memory = argument instanceof Matrix matrix ? matrix.memory() : (cl_mem) argument;
            CL.clSetKernelArg(kernel, index, Sizeof.cl_mem, Pointer.to(memory));
        }
    }

    @Override
    public void close() {
        kernels.values().forEach(CL::clReleaseKernel);
        kernels.clear();
        CL.clReleaseProgram(program);
    }
}
