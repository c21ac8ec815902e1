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

/** A call that goes on while its caller does something else. Its spans belong to the call until it is done. Thread-safe. */
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

    /** Tells whether it has ended, well or not. */
    public boolean isDone() {
        return done.isDone();
    }

    /** Returns why it failed; empty where it is not done, or done well. */
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
     * Waits until it is done, and throws what it failed with. The end of this wait, by time or by an interrupt, does not end the call.
     *
     * @throws dev.larder.error.LarderException DEADLINE; INTERRUPTED; or as the call itself
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
     * Waits for its end as {@link #await}, however long the calls before it take: they have deadlines of their own. Returns no sooner
     * where this thread is interrupted, because the call uses memory of the caller until then.
     *
     * @param onInterrupt ends the call, and those before it, soon
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

    /** Passes on the failure with the stack of who waits for it below. */
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
