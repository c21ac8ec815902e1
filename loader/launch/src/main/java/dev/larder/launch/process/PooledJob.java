package dev.larder.launch.process;

import dev.larder.internal.error.Failure;
import dev.larder.launch.process.ExitCause.Ended;
import dev.larder.launch.process.ExitCause.NotStarted;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A job of a pool, and its result. Thread-safe. */
public final class PooledJob {
    private final Job job;
    private final Duration grace;
    private final CompletableFuture<ProcessResult> ending = new CompletableFuture<>();
    private @Nullable PoolSlot slot;
    private @Nullable ChildProcess child;
    private @Nullable EndReason endReason;
    private Duration endGrace = Duration.ZERO;
    private final List<String> signals = new ArrayList<>();

    PooledJob(Job job, Duration grace) {
        this.job = job;
        this.grace = grace;
    }

    /** Returns the job's name. */
    public String name() {
        return job.name();
    }

    /** Returns its slot, also after its end; null if it has never had one. */
    public synchronized @Nullable PoolSlot slot() {
        return slot;
    }

    /** Returns the pid of its process; −1 if there is none. */
    public synchronized long pid() {
        return child == null ? -1 : child.pid();
    }

    /** Returns whether it has ended. */
    public boolean isDone() {
        return ending.isDone();
    }

    /** Returns the future result. Never fails: a process that died or could not be started is a result. */
    public CompletableFuture<ProcessResult> onEnd() {
        return ending.copy();
    }

    /** Waits for its end, and registers nothing that would stay after a timeout. */
    void awaitEnd(long timeoutNs) throws InterruptedException, ExecutionException, TimeoutException {
        ending.get(Math.max(0, timeoutNs), TimeUnit.NANOSECONDS);
    }

    /** Ends it: immediately if it waits for a slot, else with SIGTERM, and SIGKILL after the grace. Does not wait. */
    public void cancel(Duration newGrace) {
        end(EndReason.CANCELLED, newGrace);
    }

    /** Sends its process group a signal, named without SIG, if it runs, or as soon as it has started. */
    void signal(String name) {
        ChildProcess running;
        synchronized (this) {
            running = child;
            if (running == null && slot != null) {
                signals.add(name);
            }
        }
        if (running != null) {
            running.signal(name);
        }
    }

    /** Cancels it unless it has a slot. Does not wait. */
    public void withdraw() {
        synchronized (this) {
            if (slot != null) {
                return;
            }
            endReason = EndReason.CANCELLED;
        }
        cancel(Duration.ZERO);
    }

    private void end(EndReason reason, Duration newGrace) {
        ChildProcess running;
        boolean waits;
        synchronized (this) {
            endReason = endReason == null ? reason : endReason;
            endGrace = newGrace;
            running = child;
            waits = slot == null;
        }
        if (running != null) {
            running.end(reason, newGrace);
        } else if (waits) {
            ending.complete(new ProcessResult(new Ended(reason, ExitCause.SIGNAL_BASE), Duration.ZERO, null));
        }
    }

    /** Takes a slot; false if the job has been cancelled. */
    synchronized boolean take(PoolSlot free) {
        if (endReason != null) {
            return false;
        }
        slot = free;
        return true;
    }

    /** Runs it in its slot; the future completes when the slot is free again. */
    CompletableFuture<Void> run(PoolSlot taken) {
        ChildProcess started;
        try {
            started = ChildProcess.start(in(taken, job.program().apply(taken)));
        } catch (RuntimeException | Error e) { // such as too many threads: that ends this job, not the pool
            String reason = e.getMessage() == null ? Failure.words(e) : e.getMessage();
            NotStarted cause = new NotStarted(NotStarted.CANNOT_RUN, reason);
            ending.complete(new ProcessResult(cause, Duration.ZERO, null));
            return CompletableFuture.completedFuture(null);
        }
        EndReason already;
        List<String> early;
        synchronized (this) {
            child = started;
            already = endReason;
            early = List.copyOf(signals);
        }
        early.forEach(started::signal);
        if (already != null) {
            started.end(already, endGrace);
        }
        if (job.timeout() != null) {
            endAfter(job.timeout(), started);
        }
        return started.onEnd().thenAccept(ending::complete);
    }

    private void endAfter(Duration timeout, ChildProcess started) {
        Future<?> timeIsUp = DelayedTasks.run(timeout, () -> started.end(EndReason.DEADLINE, grace));
        var unused = started.onEnd().thenRun(() -> timeIsUp.cancel(false));
    }

    private static ProcessSpec in(PoolSlot slot, ProcessSpec program) {
        Map<String, @Nullable String> environment = new HashMap<>(program.environment());
        environment.putAll(slot.environment());
        return program.withEnvironment(environment);
    }
}
