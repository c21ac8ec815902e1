package dev.larder.loader;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.loader.device.Fence;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The two threads of a loader with devices: one gives batches to them, the other looks how far they have come. Neither keeps a
 * processor busy while it waits.
 */
final class DeviceThreads {
    private final Source source;
    private final DeviceRing ring;
    private final Duration timeout;
    private final Thread uploader = new Thread(this::upload, "larder-upload");
    private final Thread retirer = new Thread(this::retire, "larder-retire");

    private DeviceThreads(Source source, DeviceRing ring, Duration timeout) {
        this.source = source;
        this.ring = ring;
        this.timeout = timeout;
    }

    static DeviceThreads start(Source source, DeviceRing ring, Duration timeout) {
        DeviceThreads threads = new DeviceThreads(source, ring, timeout);
        threads.uploader.setDaemon(true);
        threads.retirer.setDaemon(true);
        threads.uploader.start();
        try {
            threads.retirer.start();
        } catch (Throwable e) { // no more threads to be had
            ring.close();
            threads.uploader.interrupt();
            throw e;
        }
        return threads;
    }

    /** Waits for the threads of a closed ring to end; tells whether they have, and all work with them. */
    boolean join(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        uploader.interrupt();
        boolean interrupted = join(uploader, deadline);
        interrupted |= join(retirer, deadline);
        retirer.interrupt();
        interrupted |= join(retirer, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(200));
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !uploader.isAlive() && !retirer.isAlive() && !ring.hasFlights();
    }

    private static boolean join(Thread thread, long deadline) {
        boolean interrupted = false;
        while (thread.isAlive() && thread != Thread.currentThread() && System.nanoTime() < deadline) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, deadline - System.nanoTime()));
            } catch (InterruptedException e) {
                interrupted = true; // and wait on: it is not for long
            }
        }
        return interrupted;
    }

    // ---- the uploading thread

    private void upload() {
        try {
            for (DeviceRing.Job job = ring.next(); job != null; job = ring.next()) {
                upload(job);
            }
        } catch (InterruptedException e) {
            // the loader is being closed
        } finally {
            ring.uploaderLeft();
        }
    }

    private void upload(DeviceRing.Job job) {
        Batch batch = gathered(job);
        if (batch == null) {
            return;
        }
        try {
            long bytes = job.slot().submit(batch.slot());
            ring.submitted(job, new Flight(job.slot(), batch), bytes);
        } catch (Throwable e) {
            ring.failed(failure("cannot give a batch to the device", job.run().plan, batch.slot().batch, "submit", e));
        }
    }

    private @Nullable Batch gathered(DeviceRing.Job job) {
        try {
            return job.run().batches.next().keep();
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
            long quietSince = System.nanoTime();
            while (ring.awaitFlights()) {
                boolean uploaded = retireUploaded();
                if (retireReady() || uploaded) {
                    quietSince = System.nanoTime();
                } else {
                    Fence.pause(System.nanoTime() - quietSince);
                    if (Thread.interrupted()) {
                        return; // the loader is being closed, and has waited long enough
                    }
                }
            }
        } catch (InterruptedException e) {
            // the loader is being closed, and has waited long enough
        }
    }

    private boolean retireUploaded() {
        Flight flight = ring.firstUploading();
        if (flight == null || !isOver(flight, "upload", flight::isUploaded)) {
            return false;
        }
        ring.uploaded(flight);
        return true;
    }

    private boolean retireReady() {
        Flight flight = ring.firstLanding();
        if (flight == null || !isOver(flight, "compute", flight::isReady)) {
            return false;
        }
        ring.landed(flight);
        return true;
    }

    /** Tells whether there is nothing to wait for any more: the work is done, or has failed. */
    private boolean isOver(Flight flight, String phase, java.util.function.BooleanSupplier done) {
        try {
            if (done.getAsBoolean()) {
                return true;
            }
            if (isLate(flight)) { // and may still be at it: its memory stays as it is
                LarderException late = Failure.of(ErrorCode.DEADLINE, "not finished in time")
                        .with("timeout", timeout.toMillis() + "ms")
                        .remedy("see whether the device is busy or hangs; raise timeout(…) if it is slow");
                ring.failed(failure("device is late", flight.plan, flight.number, phase, late));
            }
            return false;
        } catch (RuntimeException e) {
            ring.failed(failure("device failed", flight.plan, flight.number, phase, e));
            return true;
        }
    }

    /** Tells whether the device itself takes too long; what waits for the consumer may take any time. */
    private boolean isLate(Flight flight) {
        if (flight.clearedNanos == 0 && flight.isCleared()) {
            flight.clearedNanos = System.nanoTime();
        }
        return flight.clearedNanos != 0 && System.nanoTime() - flight.clearedNanos > timeout.toNanos();
    }

    private LarderException failure(String what, Plan plan, long batch, String phase, Throwable cause) {
        Failure failure = source.failure(
                        cause instanceof LarderException known ? known.code() : ErrorCode.UNEXPECTED, what)
                .with("phase", phase)
                .with("epoch", plan.epoch())
                .with("batch", batch)
                .with("cause", cause instanceof LarderException known ? known.getMessage() : cause)
                .cause(cause);
        return failure.exception();
    }
}
