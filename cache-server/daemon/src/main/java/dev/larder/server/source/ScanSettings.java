package dev.larder.server.source;

import dev.larder.internal.column.ColumnMemory;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a scan.
 *
 * @param workers threads that open files
 * @param takesHidden whether to load files and folders whose names begin with a dot
 * @param isCancelled returns whether to end the scan with a {@link java.util.concurrent.CancellationException}
 * @param onChecked takes the number of files that were checked, from any thread
 * @param memory the memory for columns; it lives until the arrays have been released
 * @param scratch the folders for programs that write for a load
 * @param checksLater whether the scan may leave {@link SourceArray#requireBeginning} to the copier
 * @param samples receives the samples of small files that the scan reads whole; null if they are not needed
 */
public record ScanSettings(
        int workers,
        boolean takesHidden,
        BooleanSupplier isCancelled,
        IntConsumer onChecked,
        ColumnMemory memory,
        ScratchFolders scratch,
        boolean checksLater,
        @Nullable SourceSamples samples) {
    /** Makes columns in anonymous memory: for programs that read their own files. */
    public ScanSettings(int workers, boolean takesHidden, BooleanSupplier isCancelled, IntConsumer onChecked) {
        this(
                workers,
                takesHidden,
                isCancelled,
                onChecked,
                ColumnMemory.anonymous(),
                ScratchFolders.temporary(),
                false,
                null);
    }

    /** Returns the same for a load that copies the data. */
    public ScanSettings withChecksLater() {
        return new ScanSettings(workers, takesHidden, isCancelled, onChecked, memory, scratch, true, samples);
    }

    /** Returns the same with samples of small files. */
    public ScanSettings withSamples(SourceSamples taker) {
        return new ScanSettings(workers, takesHidden, isCancelled, onChecked, memory, scratch, checksLater, taker);
    }

    /** Returns the settings for a short scan by the calling thread alone. */
    public static ScanSettings quick() {
        return new ScanSettings(1, false, () -> false, checked -> {});
    }
}
