package dev.larder.loader.internal.upload;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.ring.DeliveredBatch;
import dev.larder.loader.internal.ring.HostPipeline;
import dev.larder.loader.internal.ring.OpenBatches;
import dev.larder.loader.internal.slot.PipelineStage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Hands a loader's device slots round: to the thread that gives batches to the devices, in their order to the consumer, and back.
 *
 * <p>All state changes happen under this object's monitor, which is never held while a device or anybody else's code is called,
 * but to look at a fence or close it. A device that failed once is not used again.
 */
final class DeviceRing {
    private final LoaderSource source;
    private final long timeoutNanos;
    private final int depth;

    /** Slots that nobody uses; the one that was given up first goes first, as its consumer's work is done first. */
    private final ArrayDeque<DeviceSlot> free;

    /** Slots of the running plan that were submitted, in the plan's order. */
    private final ArrayDeque<DeviceSlot> line = new ArrayDeque<>();

    /** What is under way: until the host's bytes are free again, and until the batch is complete. */
    private final ArrayDeque<UploadingBatch> uploading = new ArrayDeque<>();

    private final ArrayDeque<UploadingBatch> computing = new ArrayDeque<>();

    private @Nullable Run run;

    /** The epoch after it, whose first batches are uploaded behind its last ones. */
    private @Nullable Run following;

    private @Nullable LarderException failure;
    private boolean failedForEver;
    private boolean closed;
    private boolean uploaderLeft;
    private long uploadedBytes;
    private int lentCount;

    DeviceRing(LoaderSource source, List<DeviceSlot> slots, Duration timeout) {
        this.source = source;
        this.timeoutNanos = Deadline.nanos(timeout);
        this.depth = slots.size();
        this.free = new ArrayDeque<>(slots);
    }

    /** An epoch that is gathered on the host, and how many of its batches were not taken yet. */
    static final class Run {
        final Plan plan;
        private final HostPipeline host;
        private long untaken;

        Run(HostPipeline host, Plan plan) {
            this.plan = plan;
            this.host = host;
            this.untaken = plan.batches();
        }

        /** Waits for the next batch, which is kept until it is closed. */
        DeliveredBatch take() {
            return host.take(plan, null);
        }

        private void end() {
            host.end(plan);
        }
    }

    /** What the uploading thread does next. */
    record Job(Run run, DeviceSlot slot) {}

    // ---- for epochs

    /** Begins an epoch; the one before ends. */
    synchronized void start(Run next) {
        requireOpen();
        end();
        if (failedForEver) {
            throw Objects.requireNonNull(failure);
        }
        failure = null;
        run = next;
        notifyAll();
    }

    /** Takes note of what comes after the epoch that runs; does nothing where that has ended. */
    synchronized void follow(Plan running, Run next) {
        if (run != null && run.plan == running && following == null && !closed) {
            following = next;
            notifyAll();
        }
    }

    /** Goes on with the epoch that follows, and ends the one that runs; false where none such does. */
    synchronized boolean advance(Plan next) {
        requireOpen();
        Run wanted = following;
        if (wanted == null || wanted.plan != next || failedForEver) {
            return false;
        }
        endRun(run);
        run = wanted;
        following = null;
        failure = null;
        notifyAll();
        return true;
    }

    /** Ends an epoch, unless it has ended, and tells whether it had not; batches that nobody has seen go back. */
    synchronized boolean end(Plan ending) {
        boolean running = run != null && run.plan == ending;
        if (running) {
            endRun(run);
            run = null;
            notifyAll();
        }
        return running;
    }

    /** Ends the epoch that runs, if any. */
    synchronized void endRunning() {
        requireOpen();
        end();
    }

    private void end() {
        endRun(run);
        run = null;
        endRun(following);
        following = null;
        notifyAll();
    }

    private void endRun(@Nullable Run ending) {
        if (ending == null) {
            return;
        }
        ending.end();
        for (DeviceSlot slot : List.copyOf(line)) {
            if (slot.plan() == ending.plan) {
                line.remove(slot);
                slot.waitForItself();
                free.addLast(slot);
            }
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(
                    "loader is closed: dataset=" + source.data().name());
        }
    }

    // ---- for the consumer

    /** Waits for the next batch of an epoch. */
    DeviceSlot take(Plan wanted) {
        long start = System.nanoTime();
        synchronized (this) {
            while (true) {
                requireRunning(wanted);
                DeviceSlot slot = line.pollFirst();
                if (slot != null) {
                    lentCount++;
                    return slot;
                }
                if (failure != null) {
                    throw failure;
                }
                awaitChange(start);
            }
        }
    }

    /** Fails unless an epoch runs and no device has failed. */
    synchronized void requireRunning(Plan wanted) {
        requireOpen();
        if (failedForEver) {
            throw Objects.requireNonNull(failure);
        }
        if (run == null || run.plan != wanted) {
            throw new IllegalStateException("epoch has ended, since it was closed or another one began: dataset="
                    + source.data().name() + " epoch=" + wanted.epoch());
        }
    }

    private void awaitChange(long start) {
        boolean areAllOpen = lentCount == depth;
        long left = OpenBatches.limitNanos(areAllOpen, timeoutNanos) - (System.nanoTime() - start);
        if (left <= 0) {
            String check = "check the device, the queues of batches that you closed and the machine's load";
            throw OpenBatches.late(areAllOpen, (code, what) -> waiting(code, what, start), "deviceSlots(…)", check);
        }
        try {
            TimeUnit.NANOSECONDS.timedWait(this, Math.max(left, TimeUnit.MILLISECONDS.toNanos(1)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw waiting(ErrorCode.INTERRUPTED, "interrupted while waiting for a batch", start)
                    .exception();
        }
    }

    private Failure waiting(ErrorCode code, String what, long start) {
        return source.failure(code, what)
                .with("stage", lentCount == depth ? PipelineStage.SLOT : PipelineStage.GATHER)
                .with("epoch", run == null ? -1 : run.plan.epoch())
                .with("waited", Duration.ofNanos(System.nanoTime() - start).toMillis() + "ms")
                .with("deviceSlots", depth)
                .with("openBatches", lentCount)
                .with("free", free.size())
                .with("uploading", uploading.size())
                .with("computing", computing.size());
    }

    /** Takes the slot of a batch back, to be used again when its fences are passed: one for each part, now the ring's. */
    synchronized void giveBack(DeviceSlot slot, Fence[] fences) {
        slot.waitFor(fences);
        lentCount--;
        free.addLast(slot);
        notifyAll();
    }

    /** Takes the slot of a batch back that no consumer has seen. */
    synchronized void giveBack(DeviceSlot slot) {
        slot.waitForItself();
        lentCount--;
        free.addLast(slot);
        notifyAll();
    }

    synchronized long uploadedBytes() {
        return uploadedBytes;
    }

    // ---- for the uploading thread

    /** Waits for a free slot and a batch that is to be put there; nothing when the ring is closed. */
    synchronized @Nullable Job next() throws InterruptedException {
        while (!closed) {
            Run next = run != null && run.untaken > 0 ? run : following;
            if (next != null && next.untaken > 0 && !free.isEmpty() && failure == null) {
                next.untaken--;
                return new Job(next, free.removeFirst());
            }
            wait();
        }
        return null;
    }

    /** Takes note of a batch that was given to the devices. */
    synchronized void submitted(Job job, UploadingBatch batch, long bytes) {
        uploadedBytes += bytes;
        uploading.addLast(batch);
        computing.addLast(batch);
        job.slot().take(batch);
        if (run == job.run() || following == job.run()) {
            line.addLast(job.slot());
        } else {
            job.slot().waitForItself();
            free.addLast(job.slot());
        }
        notifyAll();
    }

    /** Takes note that the host has no batch: the epoch ends with it, after those before. */
    synchronized void notGathered(Job job, LarderException cause) {
        free.addFirst(job.slot());
        if ((run == job.run() || following == job.run()) && failure == null) {
            failure = cause;
        }
        notifyAll();
    }

    /** Takes note that a device failed: nothing is delivered any more. */
    synchronized void failed(LarderException cause) {
        if (!failedForEver) {
            failedForEver = true;
            failure = cause;
        }
        notifyAll();
    }

    synchronized void uploaderLeft() {
        uploaderLeft = true;
        notifyAll();
    }

    // ---- for the retiring thread

    /** Waits until something is under way; tells whether there is anything more to wait for. */
    synchronized boolean awaitUploads() throws InterruptedException {
        while (uploading.isEmpty() && computing.isEmpty()) {
            if (closed && uploaderLeft) {
                return false;
            }
            wait();
        }
        return true;
    }

    synchronized @Nullable UploadingBatch firstUploading() {
        return uploading.peekFirst();
    }

    synchronized @Nullable UploadingBatch firstComputing() {
        return computing.peekFirst();
    }

    synchronized void uploaded(UploadingBatch batch) {
        uploading.remove(batch);
        batch.release();
        notifyAll();
    }

    synchronized void completed(UploadingBatch batch) {
        computing.remove(batch);
        batch.complete();
        notifyAll();
    }

    // ---- for the end

    /** Ends everything that has not begun. Idempotent. */
    synchronized void close() {
        if (!closed) {
            closed = true;
            end();
        }
    }

    /** Waits until no batch is lent; tells whether that is so in time. */
    synchronized boolean awaitNothingLent(Deadline deadline) throws InterruptedException {
        while (lentCount > 0 && !deadline.isOver()) {
            wait(deadline.remainingMillis());
        }
        return lentCount == 0;
    }

    synchronized boolean hasUploads() {
        return !uploading.isEmpty() || !computing.isEmpty();
    }
}
