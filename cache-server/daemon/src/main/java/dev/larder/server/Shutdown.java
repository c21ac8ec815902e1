package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.server.store.CleanUp;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Ends a daemon once, at the first request. Every caller waits for the result. Thread-safe. */
final class Shutdown {
    private static final String REMAINS = "larder serve takes over the rest of the store, larder gc removes it";
    private static final long TIMEOUT_SECONDS = 60;

    private final Path store;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final CompletableFuture<CleanUp> ended = new CompletableFuture<>();
    private volatile Work work = keep -> {
        throw new IllegalStateException("the daemon has not started");
    };
    private volatile Runnable afterwards = () -> {};

    /** Ends the parts of the daemon, and removes its store or leaves it in order. */
    @FunctionalInterface
    interface Work {
        CleanUp end(boolean keep) throws IOException;
    }

    Shutdown(Path store) {
        this.store = store;
    }

    /**
     * Sets the work. Called before the daemon accepts requests.
     *
     * @param afterwards ends the control server after clients have received the result; may run more than once
     */
    void prepare(Work work, Runnable afterwards) {
        this.work = work;
        this.afterwards = afterwards;
    }

    /** Returns whether the daemon is ending or has ended. */
    boolean isStopping() {
        return begun.get();
    }

    /** Returns whether the daemon has ended. */
    boolean isOver() {
        return ended.isDone();
    }

    /** Returns the future that completes with the result. */
    CompletableFuture<CleanUp> result() {
        return ended;
    }

    /** Ends the daemon, and passes the result to {@code report} while clients can still be answered. */
    CleanUp stop(boolean keep, Consumer<CleanUp> report) {
        if (begun.compareAndSet(false, true)) {
            try {
                CleanUp cleanUp = work.end(keep);
                report.accept(cleanUp);
                ended.complete(cleanUp);
            } catch (IOException | RuntimeException | Error e) {
                ended.completeExceptionally(e);
            }
        }
        return await(TIMEOUT_SECONDS);
    }

    /** Waits until the daemon has ended, and returns the result. */
    CleanUp await(long timeoutSeconds) {
        try {
            CleanUp cleanUp = ended.get(timeoutSeconds, TimeUnit.SECONDS);
            afterwards.run();
            return cleanUp;
        } catch (ExecutionException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "clean-up failed")
                    .with("store", store)
                    .with("reason", e.getCause())
                    .cause(e)
                    .remedy(REMAINS);
        } catch (TimeoutException e) {
            throw Failure.of(ErrorCode.DEADLINE, "clean-up takes too long")
                    .with("store", store)
                    .with("seconds", timeoutSeconds)
                    .cause(e)
                    .remedy(REMAINS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting for the daemon")
                    .exception();
        }
    }
}
