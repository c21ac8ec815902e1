package dev.larder.server.source;

import dev.larder.internal.column.ColumnMemory;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/**
 * Says how a source is scanned.
 *
 * @param workers threads that open files
 * @param takesHidden whether files and folders whose names begin with a dot are looked at
 * @param isCancelled asked between files; once it says yes the scan ends with a {@link
 *     java.util.concurrent.CancellationException}
 * @param onChecked told how many more files were checked, from changing threads
 * @param memory where columns are made; lives until the arrays have been released
 * @param scratch where programs that read for a load write
 * @param checksLater whether files need not be opened that {@link SourceArray#requireBeginning} checks when they are read
 */
public record ScanSettings(
        int workers,
        boolean takesHidden,
        BooleanSupplier isCancelled,
        IntConsumer onChecked,
        ColumnMemory memory,
        ScratchFolders scratch,
        boolean checksLater) {
    /** Makes columns in anonymous memory: for programs that read their own files. */
    public ScanSettings(int workers, boolean takesHidden, BooleanSupplier isCancelled, IntConsumer onChecked) {
        this(workers, takesHidden, isCancelled, onChecked, ColumnMemory.anonymous(), ScratchFolders.temporary(), false);
    }

    /** Returns the same for a load that copies the data. */
    public ScanSettings withChecksLater() {
        return new ScanSettings(workers, takesHidden, isCancelled, onChecked, memory, scratch, true);
    }

    /** Returns the same for a scan that a second condition ends as well. */
    public ScanSettings endingToo(BooleanSupplier isEnded) {
        BooleanSupplier either = () -> isEnded.getAsBoolean() || isCancelled.getAsBoolean();
        return new ScanSettings(workers, takesHidden, either, onChecked, memory, scratch, checksLater);
    }

    /** Returns those of a scan by the calling thread alone, which nobody watches. */
    public static ScanSettings quick() {
        return new ScanSettings(1, false, () -> false, checked -> {});
    }
}
