package dev.larder.loader.internal.ring;

import dev.larder.internal.posix.PageSize;
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
 * The source and the resources of a pipeline.
 *
 * @param collation the function over whole batches
 * @param seed the seed of random transforms
 * @param batchSize the number of samples in a batch; 0 if sizes differ
 * @param threads the number of gather threads, or {@link #USUAL_THREADS}
 * @param prefetch the number of batches that are prepared or open
 * @param runsUserSampler whether looking up rows runs user code, which may take any time
 * @param retries the retries for a sample that cannot be read
 * @param maxSkipped the most such samples of an epoch that are skipped
 * @param allocator opens the allocator for slots on the host
 * @param slots the slots to gather into, if they are not the loader's own
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
    /** Lets {@link #threads(LoaderSource)} choose. */
    public static final int USUAL_THREADS = -1;

    private static final int MOST_USUAL_THREADS = 8;

    /** From this size on, the kernel's work for a row from a disk takes most of a thread's time. */
    private static final long LONG_ROW_BYTES = 64 << 10;

    /** The first capacity of slots, in samples, for batches of unknown size. */
    private static final int USUAL_BATCH = 64;

    private static final long USUAL_BATCH_BYTES = 16 << 20;

    /** Opens the fields; {@code devices} decides which steps kernels do, null leaves all to the host. */
    public LoaderSource source(@Nullable DeviceFields devices) {
        return LoaderSource.of(data, fields, collation, seed, timeout, devices);
    }

    /** Returns the settings for a pipeline with its own slots. */
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

    /** Returns the number of gather threads: by default, one less than processors, and one more for long rows on a disk. */
    int threads(LoaderSource source) {
        if (threads != USUAL_THREADS) {
            return threads;
        }
        boolean readsLongRows =
                source.fields().stream().anyMatch(field -> field.pageBytes() >= LONG_ROW_BYTES + PageSize.BYTES);
        int processors = Runtime.getRuntime().availableProcessors();
        return Math.max(1, Math.min(MOST_USUAL_THREADS, readsLongRows ? processors : processors - 1));
    }

    /** Returns the first capacity of slots, in samples. */
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
