package dev.larder.distributed;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A call that runs while its caller continues. Its spans belong to the call until it is done. Thread-safe. */
public final class Work {
    private final String what;
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    Work(String what) {
        this.what = what;
    }

    void finish() {
        done.complete(null);
    }

    void fail(Throwable reason) {
        done.completeExceptionally(reason);
    }

    /** Returns whether it has ended, with or without a failure. */
    public boolean isDone() {
        return done.isDone();
    }

    /** Returns the failure; empty if it is not done, or succeeded. */
    public Optional<Throwable> exception() {
        return done.isCompletedExceptionally() ? Optional.of(reason()) : Optional.empty();
    }

    private Throwable reason() {
        try {
            done.getNow(null);
            throw new IllegalStateException("not failed");
        } catch (CompletionException e) {
            return e.getCause() == null ? e : e.getCause();
        }
    }

    /**
     * Waits until it is done, and throws its failure. A timeout or an interrupt of this wait does not end the call.
     *
     * @throws dev.larder.error.LarderException DEADLINE; INTERRUPTED; or the failure of the call
     */
    public void await(Duration timeout) {
        try {
            done.get(Deadline.nanos(timeout), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw Failure.of(ErrorCode.DEADLINE, "the call has not ended in time")
                    .with("call", what)
                    .with("timeout", timeout)
                    .remedy("wait longer; the call itself ends at the deadline of its group");
        } catch (InterruptedException e) {
            throw interrupted();
        } catch (ExecutionException e) {
            throw rethrown(e);
        }
    }

    /**
     * Waits for its end as {@link #await}, however long earlier calls take: they have their own deadlines. An interrupt does not end this
     * wait, because the call uses memory of the caller.
     *
     * @param onInterrupt ends the call and those before it soon
     */
    void join(Runnable onInterrupt) {
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    done.get();
                    break;
                } catch (InterruptedException e) {
                    if (!isInterrupted) {
                        isInterrupted = true;
                        onInterrupt.run();
                    }
                }
            }
        } catch (ExecutionException e) {
            throw rethrown(e);
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
        if (isInterrupted) {
            throw interrupted();
        }
    }

    private LarderException interrupted() {
        Thread.currentThread().interrupt();
        return Failure.of(ErrorCode.INTERRUPTED, "interrupted while a call went on")
                .with("call", what)
                .exception();
    }

    /** Returns the failure with the stack of this caller. */
    private RuntimeException rethrown(ExecutionException e) {
        Throwable cause = e.getCause();
        if (cause instanceof LarderException failure) {
            return new LarderException(failure.rawCode(), String.valueOf(failure.getMessage()), failure);
        }
        return new IllegalStateException("call failed: call=" + what, cause);
    }

    @Override
    public String toString() {
        return "Work{" + what + (isDone() ? " done" : "") + "}";
    }
}
