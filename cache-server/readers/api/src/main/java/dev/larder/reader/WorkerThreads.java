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
    /** How long running parts may take to end once another has failed. */
    private static final long END_SECONDS = 2;

    private WorkerThreads() {}

    /** A part that stands by itself. */
    @FunctionalInterface
    public interface Part {
        /** Does it. */
        void run() throws IOException;
    }

    /**
     * Runs all parts and returns when they are done; of what fails, the first in the list is thrown, and no other part begins. Those that run
     * are interrupted and, for a moment, waited for, as the caller then closes what they read.
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
