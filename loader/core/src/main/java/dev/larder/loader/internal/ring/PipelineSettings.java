package dev.larder.loader.internal.ring;

import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.device.SlotProvider;
import dev.larder.loader.internal.field.DeviceFields;
import dev.larder.loader.internal.field.FieldSpec;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.internal.slot.Collation;
import dev.larder.loader.internal.slot.OutputArray;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a pipeline reads, and with which resources.
 *
 * @param collation what is done with batches as a whole
 * @param seed what random transforms draw from
 * @param batchSize how many samples a batch has; 0 where batches are of any size
 * @param prefetch how many batches are filled ahead or open
 * @param runsUserSampler whether looking up rows runs code of the user, which may take any time
 * @param retries how often a sample that cannot be read is tried again
 * @param maxSkipped how many such samples of an epoch may be left out
 * @param allocator opens what slots of the host take their memory from
 * @param slots whose memory batches are gathered into, where that is not the loader's own
 */
public record PipelineSettings(
        SourceData data,
        List<FieldSpec> fields,
        @Nullable Collation collation,
        long seed,
        int batchSize,
        int threads,
        int prefetch,
        boolean inOrder,
        boolean runsUserSampler,
        int retries,
        long maxSkipped,
        Duration timeout,
        Supplier<HostAllocator> allocator,
        @Nullable SlotProvider slots) {
    /** What slots of batches of unknown size have room for at first. */
    private static final int USUAL_BATCH = 64;

    private static final long USUAL_BATCH_BYTES = 16 << 20;

    /** Opens the fields; {@code devices} decides which steps kernels do, null leaves all to the host. */
    public LoaderSource source(@Nullable DeviceFields devices) {
        return LoaderSource.of(data, fields, collation, seed, timeout, devices);
    }

    /** Returns the same for a pipeline that shares no memory. */
    public PipelineSettings withOwnSlots() {
        return new PipelineSettings(
                data,
                fields,
                collation,
                seed,
                batchSize,
                threads,
                prefetch,
                inOrder,
                runsUserSampler,
                retries,
                maxSkipped,
                timeout,
                allocator,
                null);
    }

    /** Returns how many samples slots have room for, at first at least. */
    public int samples(LoaderSource source) {
        if (batchSize > 0) {
            return batchSize;
        }
        long largest = source.arrays().stream()
                .mapToLong(OutputArray::rowByteSize)
                .max()
                .orElse(1);
        return (int) Math.max(1, Math.min(USUAL_BATCH, USUAL_BATCH_BYTES / Math.max(1, largest)));
    }
}
