package dev.larder.loader.internal.ring;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.WorkPart;
import dev.larder.internal.process.FlightRecording;
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
    private final String dataset;
    private int role;

    /** The totals that this thread has written to the file; negative for the present part. */
    private final long[] nanos = new long[WorkPart.COUNT];

    private @Nullable WorkPart present;

    /** The thread of the id in the file; null before the first one. */
    private @Nullable Thread thread;

    /** The event of the present wait; null while nothing records. */
    private @Nullable BatchWaitEvent wait;

    /** True until the consumer takes the first batch of its epoch; always false if the epoch was filled during the one before. */
    private boolean isStarting;

    private long batches;
    private long samples;
    private long bytes;

    Stopwatch(AtomicBuffer file, int row, int role, String dataset) {
        this.file = file;
        this.row = LoaderDescriptor.rowOffset(row);
        this.dataset = dataset;
        become(role);
    }

    private void become(int next) {
        role = next;
        file.putIntOrdered(row + LoaderDescriptor.ROLE_OFFSET, next);
    }

    /** Records the thread of this row, so that other processes can see its use of processors. */
    void ofThisThread() {
        if (thread == Thread.currentThread()) {
            return;
        }
        thread = Thread.currentThread();
        try {
            String thread = String.valueOf(Files.readSymbolicLink(THREAD).getFileName());
            file.putLongOrdered(row + LoaderDescriptor.THREAD_OFFSET, Long.parseLong(thread));
        } catch (IOException | NumberFormatException unknown) {
            return; // its times are still counted
        }
    }

    /** Changes the row of a consumer to that of the thread that uploads. */
    void uploads() {
        become(LoaderDescriptor.ROLE_UPLOADER);
    }

    /** Ends the present part, if any, and begins another. */
    public void begin(WorkPart next) {
        long now = System.nanoTime();
        end(now);
        present = next;
        add(next, -now);
    }

    private void add(WorkPart part, long time) {
        int index = part.index();
        nanos[index] += time;
        LoaderDescriptor.writeTotal(file, row, part, nanos[index]);
    }

    /** Begins the start of an epoch, which ends when a batch is taken. */
    public void beginEpoch() {
        ofThisThread();
        isStarting = true;
        begin(WorkPart.STARTING);
    }

    /** Begins a wait for a batch. */
    public void beginWait() {
        ofThisThread(); // another one may have begun the epoch
        begin(isStarting ? WorkPart.STARTING : WorkPart.WAITING_FOR_BATCH);
        if (role == LoaderDescriptor.ROLE_CONSUMER && FlightRecording.isOn()) {
            wait = BatchWaitEvent.of(dataset, batches, isStarting);
        }
    }

    /** Moves some of the present part's time to another part. */
    void move(long moved, WorkPart part) {
        WorkPart whole = present;
        if (whole != null && moved > 0) {
            add(whole, -moved);
            add(part, moved);
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
            add(ended, now);
        }
        BatchWaitEvent event = wait;
        if (event != null) {
            wait = null;
            event.commit();
        }
    }

    /** Counts a batch that the consumer has taken. */
    public void taken(long itsSamples, long itsBytes) {
        isStarting = false;
        samples += itsSamples;
        bytes += itsBytes;
        file.putLongOrdered(row + LoaderDescriptor.BATCHES_OFFSET, ++batches);
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

    /** Returns the total time of a part, also of the present one. */
    public long nanos(WorkPart part) {
        long word = file.getLongVolatile(LoaderDescriptor.totalOffset(row, part));
        return LoaderDescriptor.totalNanos(word, System.nanoTime());
    }
}
