package dev.larder.loader.cuda.device;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import dev.larder.loader.internal.cuda.LibCuda;
import dev.larder.loader.internal.device.NativeCall;
import org.jspecify.annotations.Nullable;

/** A function and its arguments in native memory. The driver copies them at every launch. */
final class CudaKernelCall extends NativeCall<CudaMemory> {
    private final CudaSession session;
    private final long function;
    private final Groups groups;
    private final int count;

    /** An address for each argument, then the arguments, 8 bytes each. */
    private final Memory memory;

    private final long memoryAddress;

    CudaKernelCall(CudaSession session, long function, Arguments<CudaMemory> arguments, Groups groups) {
        super(session, arguments);
        this.session = session;
        this.function = function;
        this.groups = groups;
        this.count = 3 + arguments.sources().size();
        this.memory = new Memory(2L * count * Native.POINTER_SIZE);
        this.memoryAddress = Pointer.nativeValue(memory);
        memory.clear();
        set(1, arguments.control());
        set(2, arguments.target());
        for (int i = 0; i < arguments.sources().size(); i++) {
            set(3 + i, arguments.sources().get(i));
        }
        for (int i = 0; i < count; i++) {
            memory.setLong((long) i * Long.BYTES, memoryAddress + place(i));
        }
    }

    private long place(int argument) {
        return (long) (count + argument) * Long.BYTES;
    }

    private void set(int argument, @Nullable CudaMemory value) {
        memory.setLong(place(argument), value == null ? 0 : value.handle());
    }

    /** Runs it in a stream for the first {@code samples} samples. */
    synchronized void launch(CudaSession queueSession, long stream, int samples) {
        require(queueSession, samples);
        if (samples == 0) {
            return;
        }
        memory.setInt(place(0), samples);
        int result;
        session.enter();
        try {
            result = LibCuda.cuLaunchKernel(
                    function,
                    groups.across(),
                    groups.down(samples),
                    groups.deep(samples),
                    groups.itemsAcross(),
                    groups.itemsDown(),
                    1,
                    0,
                    stream,
                    memoryAddress,
                    0);
        } finally {
            session.leave();
        }
        if (result != 0) {
            throw session.health()
                    .failed("cuLaunchKernel", result)
                    .with("samples", samples)
                    .exception();
        }
    }

    @Override
    protected void release() {
        memory.close();
    }

    /**
     * The division of items: parts of a sample in dimension 0, samples in dimension 1 and, because CUDA limits the groups there, in
     * dimension 2.
     *
     * @param across the number of groups for a sample
     */
    record Groups(int across, int itemsAcross, int itemsDown) {
        private static final int MAX_GROUP_ITEMS = 256;
        private static final int MOST_GROUPS = 0xffff;

        static Groups of(int itemsPerSample, int mostItemsTogether) {
            int together = Integer.highestOneBit(Math.max(1, Math.min(mostItemsTogether, MAX_GROUP_ITEMS)));
            int itemsAcross = together;
            while (itemsAcross / 2 >= itemsPerSample) {
                itemsAcross /= 2;
            }
            int across = (itemsPerSample + itemsAcross - 1) / itemsAcross;
            return new Groups(across, itemsAcross, together / itemsAcross);
        }

        private int rows(int samples) {
            return (samples - 1) / itemsDown + 1;
        }

        int down(int samples) {
            return Math.min(rows(samples), MOST_GROUPS);
        }

        int deep(int samples) {
            return (rows(samples) - 1) / MOST_GROUPS + 1;
        }
    }
}
