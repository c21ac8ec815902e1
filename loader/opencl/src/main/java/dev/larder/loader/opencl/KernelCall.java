package dev.larder.loader.opencl;

import dev.larder.loader.internal.device.NativeCall;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.Sizeof;
import org.jocl.cl_command_queue;
import org.jocl.cl_event;
import org.jocl.cl_kernel;
import org.jspecify.annotations.Nullable;

/** A separate kernel object with its arguments, because setting arguments is not thread-safe. */
final class KernelCall extends NativeCall<OpenClMemory> {
    private static final int MAX_GROUP_ITEMS = 256;
    private static final int MOST_GROUPS = 0xffff;
    private static final int FIRST_SOURCE = 3;

    private final Session session;
    private final cl_kernel function;
    private final long[] firstItems = {0, 0};
    private final long[] localItems;
    private final long[] globalItems;
    private int samplesSet = -1;

    KernelCall(Session session, cl_kernel function, Arguments<OpenClMemory> arguments, int itemsPerSample) {
        super(session, arguments);
        this.session = session;
        this.function = function;
        LiveObjects.added(LiveObjects.Kind.KERNEL);
        this.localItems = new long[] {1, 1};
        this.globalItems = new long[] {itemsPerSample, 1};
    }

    /** Sets all arguments except the number of samples, and chooses the size of groups. */
    void set() {
        setMemory(1, arguments().control());
        setMemory(2, arguments().target());
        for (int i = 0; i < arguments().sources().size(); i++) {
            setMemory(FIRST_SOURCE + i, arguments().sources().get(i));
        }
        long[] most = Jocl.numbers(
                (name, size, value, needed) -> CL.clGetDeviceInfo(session.device(), name, size, value, needed),
                CL.CL_DEVICE_MAX_WORK_ITEM_SIZES,
                Jocl.shortNumber(
                        (name, size, value, needed) -> CL.clGetDeviceInfo(session.device(), name, size, value, needed),
                        CL.CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS));
        long mostTogether = Jocl.number(
                (name, size, value, needed) ->
                        CL.clGetKernelWorkGroupInfo(function, session.device(), name, size, value, needed),
                CL.CL_KERNEL_WORK_GROUP_SIZE);
        shapeGroups(Math.min(mostTogether, MAX_GROUP_ITEMS), most);
    }

    private void shapeGroups(long together, long[] most) {
        long items = globalItems[0];
        long across = Long.highestOneBit(Math.max(1, Math.min(together, most[0])));
        while (across / 2 >= items) {
            across /= 2;
        }
        localItems[0] = across;
        localItems[1] = Long.highestOneBit(Math.max(1, Math.min(together / across, most[1])));
        globalItems[0] = roundUp(items, across);
    }

    private static long roundUp(long count, long step) {
        return (count + step - 1) / step * step;
    }

    private void setMemory(int index, @Nullable OpenClMemory memory) {
        Pointer value = memory == null ? null : Pointer.to(memory.nativeObject());
        set(index, Sizeof.cl_mem, value);
    }

    private void set(int index, long byteSize, @Nullable Pointer value) {
        int code = Jocl.code(() -> CL.clSetKernelArg(function, index, byteSize, value));
        if (code != CL.CL_SUCCESS) {
            throw session.health()
                    .failed("clSetKernelArg", code)
                    .with("argument", index)
                    .exception();
        }
    }

    /** Checks that the kernel can run for this number of samples, and sets it. */
    synchronized void prepare(Session queueSession, int samples) {
        require(queueSession, samples);
        if (samples > 0 && samples != samplesSet) {
            set(0, Sizeof.cl_uint, Pointer.to(new int[] {samples}));
            samplesSet = samples;
        }
    }

    /** Returns the most samples of one launch: the number of groups in dimension 1 that all devices support. */
    int mostSamplesAtOnce() {
        return (int) localItems[1] * MOST_GROUPS;
    }

    /** Runs after some events, from a sample on; returns its event, with a reference for the caller. */
    synchronized cl_event launch(cl_command_queue queue, WaitList waits, long first, int samples) {
        firstItems[1] = first;
        globalItems[1] = roundUp(Math.min(samples - first, mostSamplesAtOnce()), localItems[1]);
        cl_event event = new cl_event();
        int code = Jocl.code(() -> CL.clEnqueueNDRangeKernel(
                queue, function, 2, firstItems, globalItems, localItems, waits.count(), waits.events(), event));
        if (code != CL.CL_SUCCESS) {
            throw session.health()
                    .failed("clEnqueueNDRangeKernel", code)
                    .with("samples", samples)
                    .exception();
        }
        return event;
    }

    @Override
    protected void release() {
        LiveObjects.removed(LiveObjects.Kind.KERNEL);
        Jocl.code(() -> CL.clReleaseKernel(function));
    }
}
