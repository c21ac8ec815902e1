package dev.larder.server.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ParallelTest {
    private static final List<Integer> MANY = IntStream.range(0, 1000).boxed().toList();

    @Test
    void everyElementIsTakenOnceBySeveralThreads() {
        AtomicInteger sum = new AtomicInteger();
        CyclicBarrier together = new CyclicBarrier(3);

        Parallel.forEach(List.of(1, 2, 3), 3, number -> {
            await(together);
            sum.addAndGet(number);
        });
        Parallel.forEach(MANY, 4, sum::addAndGet);

        assertThat(sum).hasValue(6 + 999 * 500);
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void theFirstFailureIsThrownWhenAllThreadsHaveEnded() {
        AtomicInteger running = new AtomicInteger();

        assertThatThrownBy(() -> Parallel.forEach(MANY, 4, number -> {
                    running.incrementAndGet();
                    try {
                        if (number == 5) {
                            throw new IllegalArgumentException("five");
                        }
                    } finally {
                        running.decrementAndGet();
                    }
                }))
                .hasMessage("five");
        assertThat(running).hasValue(0);
    }

    @Test
    void anInterruptionEndsTheOthersAndIsKept() {
        CountDownLatch never = new CountDownLatch(1);
        Thread caller = Thread.currentThread();

        assertThatThrownBy(() -> Parallel.forEach(List.of(0, 1), 2, number -> {
                    if (Thread.currentThread() == caller) {
                        caller.interrupt();
                    } else {
                        awaitInterruption(never);
                    }
                }))
                .isInstanceOf(CancellationException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    private static void awaitInterruption(CountDownLatch never) {
        try {
            never.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
