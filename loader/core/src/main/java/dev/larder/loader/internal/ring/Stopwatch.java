package dev.larder.loader.internal.ring;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.WorkPart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.concurrent.AtomicBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Sums the times of the parts of a thread's work, in a row of {@link LoaderDescriptor}. Only that thread writes; any thread and process
 * may read.
 */
public final class Stopwatch {
    private static final Path THREAD = Path.of("/proc/thread-self");

    private final AtomicBuffer file;
    private final int row;

    // what this thread has written to the file
    private final long[] nanos = new long[WorkPart.COUNT];
    private @Nullable WorkPart present;
    private long since;

    /** True until the consumer takes the first batch of its epoch; always false if the epoch was filled during the one before. */
    private boolean isStarting;

    private long batches;
    private long samples;
    private long bytes;

    Stopwatch(AtomicBuffer file, int row, int role) {
        this.file = file;
        this.row = LoaderDescriptor.rowOffset(row);
        file.putIntOrdered(this.row + LoaderDescriptor.ROLE_OFFSET, role);
    }

    /** Records the thread of this row, so that other processes can see its use of processors. */
    void ofThisThread() {
        try {
            String thread = String.valueOf(Files.readSymbolicLink(THREAD).getFileName());
            file.putLongOrdered(row + LoaderDescriptor.THREAD_OFFSET, Long.parseLong(thread));
        } catch (IOException | NumberFormatException unknown) {
            return; // its times are still counted
        }
    }

    /** Changes the row of a consumer to that of the thread that uploads. */
    void uploads() {
        file.putIntOrdered(row + LoaderDescriptor.ROLE_OFFSET, LoaderDescriptor.ROLE_UPLOADER);
    }

    /** Ends the present part, if any, and begins another. */
    public void begin(WorkPart next) {
        long now = System.nanoTime();
        end(now);
        begin(next, now);
    }

    private void begin(WorkPart next, long now) {
        present = next;
        since = now;
        file.putLongOrdered(row + LoaderDescriptor.SINCE_OFFSET, now);
        file.putIntOrdered(row + LoaderDescriptor.PART_OFFSET, next.index() + 1);
    }

    /** Begins the start of an epoch, which ends when a batch is taken. */
    public void beginEpoch() {
        isStarting = true;
        begin(WorkPart.STARTING);
    }

    /** Begins a wait for a batch. */
    public void beginWait() {
        begin(isStarting ? WorkPart.STARTING : WorkPart.WAITING_FOR_BATCH);
    }

    /** Moves some of the present part's time to the reads of a disk. */
    void waitedForDisk(long waitNanos) {
        WorkPart whole = present;
        if (whole != null && waitNanos > 0) {
            long end = since + waitNanos;
            present = WorkPart.READING;
            end(end);
            begin(whole, end);
        }
    }

    /** Ends the present part, if any. */
    public void end() {
        if (present != null) {
            end(System.nanoTime());
        }
    }

    private void end(long now) {
        WorkPart ended = present;
        if (ended != null) {
            present = null;
            file.putIntOrdered(row + LoaderDescriptor.PART_OFFSET, 0);
            int part = ended.index();
            nanos[part] += now - since;
            file.putLongOrdered(row + LoaderDescriptor.TIMES_OFFSET + part * Long.BYTES, nanos[part]);
        }
    }

    /** Counts a batch that the consumer has taken. */
    public void taken(long itsSamples, long itsBytes) {
        isStarting = false;
        file.putLongOrdered(row + LoaderDescriptor.BATCHES_OFFSET, ++batches);
        file.putLongOrdered(row + LoaderDescriptor.SAMPLES_OFFSET, samples += itsSamples);
        file.putLongOrdered(row + LoaderDescriptor.BYTES_OFFSET, bytes += itsBytes);
    }

    /** Returns the batches that were taken. Guarded, as the next two, by the caller of {@link #taken}. */
    long batches() {
        return batches;
    }

    long samples() {
        return samples;
    }

    long bytes() {
        return bytes;
    }

    /** Returns the total time of a part, without the present one. */
    public long nanos(WorkPart part) {
        return file.getLongVolatile(row + LoaderDescriptor.TIMES_OFFSET + part.index() * Long.BYTES);
    }
}
