package dev.larder.loader.internal.device;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A compiled {@link KernelSource}. Belongs to its backend. */
public interface DeviceKernel {
    /**
     * Binds the kernel to its memory, once for many launches.
     *
     * @param control the loader's control values for each sample, or null if the kernel takes none
     * @param sources the shards of a resident array, or the stored rows of a batch
     */
    Call bind(@Nullable DeviceMemory control, DeviceMemory target, List<DeviceMemory> sources);

    /** A kernel bound to its memory. Close it before that memory. One thread launches it. */
    interface Call extends AutoCloseable {
        @Override
        void close();
    }
}
