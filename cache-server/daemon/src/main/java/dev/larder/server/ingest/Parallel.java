package dev.larder.server.ingest;

import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** Runs an action for every element of a list on several threads. */
public final class Parallel {
    private Parallel() {}

    /** Returns when the action has run for all elements. If one fails, starts no further ones and throws the failure. */
    public static <T> void forEach(List<T> elements, int workers, Consumer<? super T> action) {
        Run<T> run = new Run<>(elements, action);
        int helpers = Math.min(workers, elements.size()) - 1;
        CountDownLatch ended = new CountDownLatch(Math.max(0, helpers));
        for (int i = 0; i < helpers; i++) {
            Thread thread = new Thread(
                    () -> {
                        run.work();
                        ended.countDown();
                    },
                    "larder-read");
            thread.setDaemon(true);
            thread.start();
        }
        run.work();
        try {
            ended.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            run.fail(new CancellationException("interrupted while reading sources"));
        }
        run.throwFailure();
    }

    /** The state that the threads share. */
    private static final class Run<T> {
        private final List<T> elements;
        private final Consumer<? super T> action;
        private final AtomicInteger next = new AtomicInteger();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();

        Run(List<T> elements, Consumer<? super T> action) {
            this.elements = elements;
            this.action = action;
        }

        void work() {
            for (int i = next.getAndIncrement(); i < elements.size(); i = next.getAndIncrement()) {
                if (failure.get() != null) {
                    return;
                }
                try {
                    action.accept(elements.get(i));
                } catch (RuntimeException | Error e) {
                    fail(e);
                }
            }
        }

        void fail(Throwable reason) {
            failure.compareAndSet(null, reason);
        }

        void throwFailure() {
            if (failure.get() instanceof RuntimeException e) {
                throw e;
            } else if (failure.get() instanceof Error e) {
                throw e;
            }
        }
    }
}
