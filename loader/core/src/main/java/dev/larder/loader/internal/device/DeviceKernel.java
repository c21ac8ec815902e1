package dev.larder.loader.internal.device;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A compiled {@link KernelSource}. Belongs to its backend. */
public interface DeviceKernel {
    /**
     * Sets what the kernel works on, once for many launches.
     *
     * @param control what the loader wrote of each sample; nothing where the kernel takes none
     * @param sources the shards of a resident array, or the stored rows of a batch
     */
    Call bind(@Nullable DeviceMemory control, DeviceMemory target, List<DeviceMemory> sources);

    /** A kernel and what it works on; to be closed before any of that. One thread launches it. */
    interface Call extends AutoCloseable {
        @Override
        void close();
    }
}
