package dev.larder.reader;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs the parts of a reader's work on several threads. */
public final class WorkerThreads {
    /** Time limit for the other parts after one fails. */
    private static final long END_SECONDS = 2;

    private WorkerThreads() {}

    /** A part that stands by itself. */
    @FunctionalInterface
    public interface Part {
        /** Does it. */
        void run() throws IOException;
    }

    /**
     * Runs all parts, and returns when they are done. Throws the failure of the first part in the list that fails; no other part begins after a
     * failure. Running parts are interrupted, and have a moment to end, because the caller then closes their files.
     */
    public static void runAll(int workers, List<Part> parts) throws IOException {
        ExecutorService pool = Executors.newFixedThreadPool(Math.max(1, workers));
        try {
            List<Future<?>> runs = new ArrayList<>();
            for (Part part : parts) {
                runs.add(pool.submit(() -> {
                    part.run();
                    return null;
                }));
            }
            for (Future<?> run : runs) {
                await(run);
            }
        } finally {
            pool.shutdownNow();
            awaitEnd(pool);
        }
    }

    private static void awaitEnd(ExecutorService pool) {
        try {
            var unused = pool.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(Future<?> run) throws IOException {
        try {
            run.get();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IOException failure) {
                throw failure;
            } else if (cause instanceof RuntimeException failure) {
                throw failure;
            } else if (cause instanceof Error failure) {
                throw failure;
            }
            throw new IllegalStateException(cause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
