package dev.larder.server.source;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs an action for each element of a list on several threads. */
public final class Parallel {
    private Parallel() {}

    /**
     * Runs an action for each element, on the calling thread and on others. Throws the first failure; no element begins after it. All threads have
     * ended by then, so that the caller can free the memory that they write to.
     */
    public static <T> void forEach(List<T> elements, int workers, Consumer<? super T> action) {
        AtomicInteger next = new AtomicInteger();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Runnable work = () -> {
            for (int i = next.getAndIncrement(); i < elements.size() && failure.get() == null; ) {
                try {
                    action.accept(elements.get(i));
                } catch (RuntimeException | Error e) {
                    failure.compareAndSet(null, e);
                }
                i = next.getAndIncrement();
            }
        };
        List<Thread> helpers = new ArrayList<>();
        try {
            for (int i = 1; i < Math.min(workers, elements.size()); i++) {
                Thread thread = new Thread(work, "larder-read");
                thread.setDaemon(true);
                thread.start();
                helpers.add(thread);
            }
            work.run();
        } finally {
            join(helpers, failure);
        }
        if (failure.get() instanceof RuntimeException e) {
            throw e;
        } else if (failure.get() instanceof Error e) {
            throw e;
        }
    }

    /** Waits for all threads. An interruption ends their work, and is kept for the caller. */
    private static void join(List<Thread> threads, AtomicReference<@Nullable Throwable> failure) {
        boolean isInterrupted = false;
        for (int i = 0; i < threads.size(); ) {
            try {
                threads.get(i).join();
                i++;
            } catch (InterruptedException e) {
                isInterrupted = true;
                failure.compareAndSet(null, new CancellationException("interrupted while reading sources"));
                threads.forEach(Thread::interrupt);
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
