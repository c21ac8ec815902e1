package dev.larder.distributed.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("races")
class GroupWorkerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** What a JVM says where the system has no more threads. */
    private static final class Unstartable extends Thread {
        @Override
        public synchronized void start() {
            throw new OutOfMemoryError("unable to create native thread");
        }
    }

    @Test
    void aThreadThatCannotStartIsTriedAgainAtTheNextCall() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        GroupWorker worker =
                new GroupWorker("tried", run -> tries.incrementAndGet() == 1 ? new Unstartable() : new Thread(run));
        CountDownLatch ran = new CountDownLatch(1);

        assertThatThrownBy(() -> worker.submit(ran::countDown)).isInstanceOf(OutOfMemoryError.class);
        assertThat(ran.getCount()).isOne();
        worker.submit(ran::countDown);

        assertThat(ran.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        worker.close(PATIENCE);
    }

    @Test
    void anInterruptOfTheWorkerEndsNothing() throws Exception {
        GroupWorker worker = new GroupWorker("interrupted");
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        CountDownLatch ran = new CountDownLatch(2);
        worker.submit(() -> {
            thread.complete(Thread.currentThread());
            Thread.currentThread().interrupt();
        });
        worker.submit(ran::countDown);
        thread.get().interrupt();
        worker.submit(ran::countDown);

        assertThat(ran.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        worker.close(PATIENCE);
    }

    @Test
    void whoClosesItWhileInterruptedWaitsAllTheSame() {
        GroupWorker worker = new GroupWorker("waited-for");
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        worker.submit(() -> {
            begun.countDown();
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < 100_000_000) {
                Thread.onSpinWait();
            }
            ended.countDown();
        });

        Thread.currentThread().interrupt();
        worker.close(PATIENCE);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(ended.getCount()).isZero();
    }
}
