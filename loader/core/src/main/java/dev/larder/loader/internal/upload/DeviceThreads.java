package dev.larder.loader.internal.upload;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.field.DeviceReader;
import dev.larder.loader.internal.field.FieldReader;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.ring.DeliveredBatch;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.PipelineStage;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The two threads of a loader with devices: one submits batches, the other checks their progress. Neither keeps a
 * processor busy while it waits. If one of them fails, the loader fails.
 */
final class DeviceThreads {
    private static final String AGAIN = "build a new loader";

    private final LoaderSource source;
    private final DeviceRing ring;
    private final Duration timeout;
    private final Thread uploader = new Thread(this::upload, "larder-upload");
    private final Thread retirer = new Thread(this::retire, "larder-retire");

    private DeviceThreads(LoaderSource source, DeviceRing ring, Duration timeout) {
        this.source = source;
        this.ring = ring;
        this.timeout = timeout;
    }

    static DeviceThreads start(LoaderSource source, DeviceRing ring, Duration timeout) {
        DeviceThreads threads = new DeviceThreads(source, ring, timeout);
        threads.uploader.setDaemon(true);
        threads.retirer.setDaemon(true);
        threads.uploader.start();
        try {
            threads.retirer.start();
        } catch (Throwable e) { // the system has no more threads
            ring.close();
            threads.uploader.interrupt();
            throw e;
        }
        return threads;
    }

    /** Waits until the threads of a closed ring and their work end. Returns the names of the threads that are still running. */
    String join(Deadline deadline) throws InterruptedException {
        uploader.interrupt();
        join(uploader, deadline);
        join(retirer, deadline);
        retirer.interrupt();
        join(retirer, Deadline.after(Duration.ofMillis(200)));
        return Stream.of(uploader, retirer)
                .filter(Thread::isAlive)
                .map(Thread::getName)
                .collect(Collectors.joining(","));
    }

    private static void join(Thread thread, Deadline deadline) throws InterruptedException {
        if (thread != Thread.currentThread()) {
            thread.join(deadline.remainingMillis());
        }
    }

    // ---- the uploading thread

    private void upload() {
        try {
            for (DeviceRing.Job job = ring.next(); job != null; job = ring.next()) {
                upload(job);
            }
        } catch (InterruptedException e) {
            // the loader is being closed
        } catch (Throwable e) {
            ring.failed(source.failure("loader cannot continue", PipelineStage.SLOT, e)
                    .remedy(AGAIN));
        } finally {
            ring.uploaderLeft();
        }
    }

    private void upload(DeviceRing.Job job) {
        DeliveredBatch batch = gathered(job);
        if (batch == null) {
            return;
        }
        HostSlot filled = (HostSlot) batch.slot();
        long number = filled.number;
        try {
            long bytes = job.slot().submit(filled, job.run().plan);
            ring.submitted(job, new UploadingBatch(job.slot(), batch), bytes);
        } catch (Throwable e) {
            ring.failed(failure(source, "cannot give a batch to the device", job.run().plan, number, "submit", e));
        }
    }

    private @Nullable DeliveredBatch gathered(DeviceRing.Job job) {
        try {
            return job.run().take();
        } catch (LarderException e) {
            ring.notGathered(job, e);
        } catch (Throwable e) { // the epoch has ended, or memory ran out
            ring.notGathered(job, new LarderException(ErrorCode.UNEXPECTED.number(), "batch cannot be made", e));
        }
        return null;
    }

    // ---- the retiring thread

    private void retire() {
        try {
            while (ring.awaitUploads()) {
                retireUploads();
            }
        } catch (InterruptedException e) {
            // the loader is being closed, and has waited long enough
        } catch (Throwable e) {
            ring.failed(source.failure("loader cannot continue", PipelineStage.SLOT, e)
                    .remedy(AGAIN));
        }
    }

    /** Checks the batches until none is in flight. */
    private void retireUploads() throws InterruptedException {
        long quietSince = System.nanoTime();
        while (ring.hasUploads()) {
            boolean uploaded = retireUploaded();
            if (retireReady() || uploaded) {
                quietSince = System.nanoTime();
            } else {
                Fence.pause(System.nanoTime() - quietSince);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
        }
    }

    private boolean retireUploaded() {
        UploadingBatch batch = ring.firstUploading();
        if (batch == null || !isOver(batch, "upload", batch::isUploaded)) {
            return false;
        }
        ring.uploaded(batch);
        return true;
    }

    private boolean retireReady() {
        UploadingBatch batch = ring.firstComputing();
        if (batch == null || !isOver(batch, "compute", batch::isReady)) {
            return false;
        }
        requireOpenArrays(batch);
        ring.completed(batch);
        return true;
    }

    /** Fails the loader if an array that kernels read in place has been closed: they may have read zeros. */
    private void requireOpenArrays(UploadingBatch batch) {
        for (FieldReader field : source.fields()) {
            if (field instanceof DeviceReader reader && reader.storedArray() < 0 && !reader.isOpen()) {
                LarderException closed = Failure.of(ErrorCode.REFUSED, "array was closed while the loader used it")
                        .with("array", reader.column())
                        .remedy("close the loader first");
                ring.failed(failure(source, "batch may have wrong data", batch.plan, batch.number, "compute", closed));
            }
        }
    }

    /** Returns whether the work has ended or failed. */
    private boolean isOver(UploadingBatch batch, String phase, BooleanSupplier done) {
        try {
            if (done.getAsBoolean()) {
                return true;
            }
            if (isLate(batch)) { // the device may still use the memory, which stays allocated
                batch.reportedLate = true;
                LarderException late = Failure.of(ErrorCode.DEADLINE, "not finished in time")
                        .with("timeout", timeout.toMillis() + "ms")
                        .remedy("check whether the device is busy or hangs; raise timeout(…) if it is slow");
                ring.failed(failure(source, "device is late", batch.plan, batch.number, phase, late));
            }
            return false;
        } catch (RuntimeException e) {
            ring.failed(failure(source, "device failed", batch.plan, batch.number, phase, e));
            return true;
        }
    }

    /** Returns whether the device itself takes too long. Time spent waiting for the consumer does not count. */
    private boolean isLate(UploadingBatch batch) {
        if (batch.clearedNanos == 0 && batch.isCleared()) {
            batch.clearedNanos = System.nanoTime();
        }
        return !batch.reportedLate
                && batch.clearedNanos != 0
                && System.nanoTime() - batch.clearedNanos > timeout.toNanos();
    }

    /** Returns a permanent failure that names the batch and the phase. */
    static LarderException failure(
            LoaderSource source, String what, Plan plan, long batch, String phase, Throwable cause) {
        boolean known = cause instanceof LarderException;
        ErrorCode code = known ? ((LarderException) cause).code() : ErrorCode.UNEXPECTED;
        return source.failure(code, what)
                .with("phase", phase)
                .with("epoch", plan.epoch())
                .with("batch", batch)
                .with("cause", known ? "{" + cause.getMessage() + "}" : cause)
                .cause(cause)
                .remedy(AGAIN);
    }
}
