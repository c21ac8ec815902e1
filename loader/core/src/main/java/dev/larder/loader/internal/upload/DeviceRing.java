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
 * Circulates a loader's device slots: to the uploading thread, to the consumer in the order of the batches, and back.
 *
 * <p>All state changes happen under this object's monitor. It is never held during calls to a device or to foreign code,
 * except to check or close a fence. A device that failed once is not used again.
 */
final class DeviceRing {
    private final LoaderSource source;
    private final long timeoutNanos;
    private final int depth;

    /** Free slots, oldest first, because the consumer's work on the oldest ends first. */
    private final ArrayDeque<DeviceSlot> free;

    /** Submitted slots of the running plan, in the plan's order. */
    private final ArrayDeque<DeviceSlot> line = new ArrayDeque<>();

    /** Batches in flight: until the host's bytes are free again and the batch is complete. */
    private final ArrayDeque<UploadingBatch> uploading = new ArrayDeque<>();

    private final ArrayDeque<UploadingBatch> computing = new ArrayDeque<>();

    private @Nullable Run run;

    /** The epoch after the running one. Its first batches are uploaded directly after the last ones of the running epoch. */
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

    /** An epoch that the host gathers, and the number of its batches that are still to be taken. */
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

    /** The next task of the uploading thread. */
    record Job(Run run, DeviceSlot slot) {}

    // ---- for epochs

    /** Begins an epoch and ends the previous one. */
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

    /** Sets the epoch that follows the running one. Does nothing if the running epoch has ended. */
    synchronized void follow(Plan running, Run next) {
        if (run != null && run.plan == running && following == null && !closed) {
            following = next;
            notifyAll();
        }
    }

    /** Ends the running epoch and continues with {@code next}. Returns false if that epoch does not follow. */
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

    /** Ends an epoch and takes back its undelivered batches. Returns false if the epoch had already ended. */
    synchronized boolean end(Plan ending) {
        boolean running = run != null && run.plan == ending;
        if (running) {
            endRun(run);
            run = null;
            notifyAll();
        }
        return running;
    }

    /** Ends the running epoch, if any. */
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

    /** Returns the slot of a batch. It is reused once its fences are passed: one for each part, now owned by the ring. */
    synchronized void giveBack(DeviceSlot slot, Fence[] fences) {
        slot.waitFor(fences);
        lentCount--;
        free.addLast(slot);
        notifyAll();
    }

    /** Returns the slot of an undelivered batch. */
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

    /** Waits for a free slot and a batch to upload. Returns null if the ring is closed. */
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

    /** Records a batch that was submitted to the devices. */
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

    /** Records that the host has no batch: the epoch ends here, after the earlier batches. */
    synchronized void notGathered(Job job, LarderException cause) {
        free.addFirst(job.slot());
        if ((run == job.run() || following == job.run()) && failure == null) {
            failure = cause;
        }
        notifyAll();
    }

    /** Records that a device failed. No more batches are delivered. */
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

    /** Waits until a batch is in flight. Returns false if there is none and the ring has ended. */
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

    /** Cancels all work that has not begun. Idempotent. */
    synchronized void close() {
        if (!closed) {
            closed = true;
            end();
        }
    }

    /** Waits until no batch is lent. Returns false if the deadline passes first. */
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
