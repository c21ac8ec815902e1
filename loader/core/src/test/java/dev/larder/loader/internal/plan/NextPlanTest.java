package dev.larder.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.loader.sample.LastBatch;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
@Tag("races")
class NextPlanTest {
    private static final long ROWS = 1_000_000;
    private static final long ROOM = 1L << 30;

    private final Planner planner = new Planner();
    private final NextPlan next = new NextPlan(planner, () -> ROOM);

    @AfterEach
    void noThreadIsLeft() {
        planner.mayGoOn.countDown();
        next.close();

        await().until(() -> orderThreads() == 0);
    }

    @Test
    void thePlanIsMadeByAnotherThreadWhichEnds() {
        next.begin(ROWS, epoch(0));

        Plan plan = next.take(1);

        assertThat(plan).isNotNull().extracting(Plan::epoch).isEqualTo(1L);
        assertThat(planner.threads).containsExactly("larder-order");
        assertThat(orderThreads()).isZero();
    }

    @Test
    void aFollowerGetsThePlanOnTheThreadThatMadeIt() {
        CompletableFuture<Plan> followed = new CompletableFuture<>();
        next.begin(ROWS, epoch(0), plan -> {
            planner.threads.add(Thread.currentThread().getName());
            followed.complete(plan);
        });

        assertThat(next.take(1)).isNotNull().isSameAs(followed.join());
        assertThat(planner.threads).containsExactly("larder-order", "larder-order");
    }

    @Test
    void aFollowerGetsAPlanThatIsNotWorthAThreadFromTheCaller() {
        planner.bytes = 0;
        List<Plan> followed = new ArrayList<>();

        next.begin(ROWS, epoch(0), followed::add);

        assertThat(followed).hasSize(1);
        assertThat(next.take(1)).isNotNull().isSameAs(followed.get(0));
        assertThat(planner.threads).containsExactly(Thread.currentThread().getName());
    }

    @Test
    void aFollowerDoesNotGetAPlanThatIsGivenUp() {
        planner.holdsUp = true;
        Deque<Plan> followed = new ConcurrentLinkedDeque<>();
        next.begin(ROWS, epoch(0), followed::add);
        await().until(() -> planner.threads.size() == 1);

        next.giveUp();
        planner.mayGoOn.countDown();
        await().until(() -> orderThreads() == 0);

        assertThat(followed).isEmpty();
    }

    @Test
    void aPlanIsHandedOverOnce() {
        next.begin(ROWS, epoch(0));

        assertThat(next.take(1)).isNotNull();
        assertThat(next.take(1)).isNull();
    }

    @Test
    void onePlanFollowsTheOther() {
        for (long epoch = 1; epoch < 50; epoch++) {
            next.begin(ROWS, epoch(epoch - 1));

            assertThat(next.take(epoch)).isNotNull().extracting(Plan::epoch).isEqualTo(epoch);
        }
    }

    @Test
    void whoeverWantsAPlanThatIsBeingMadeWaitsForItAlthoughInterrupted() {
        planner.holdsUp = true;
        next.begin(ROWS, epoch(0));
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            Plan plan = next.take(1);
            interrupted.complete(plan != null && Thread.currentThread().isInterrupted());
        });
        caller.start();
        caller.interrupt();
        await().until(() -> caller.getState() == Thread.State.TIMED_WAITING && !caller.isInterrupted());
        assertThat(interrupted).isNotDone();

        planner.mayGoOn.countDown();

        assertThat(interrupted.join()).isTrue();
    }

    @Test
    void anotherEpochGivesUpWhatWasMade() {
        next.begin(ROWS, epoch(0));
        await().until(() -> orderThreads() == 0);

        assertThat(next.take(5)).isNull();
        assertThat(next.take(1)).isNull();
    }

    @Test
    void whatIsGivenUpInTheMakingIsNotHadLaterAndNothingElseBeginsUntilItsThreadHasLeft() {
        planner.holdsUp = true;
        next.begin(ROWS, epoch(0));
        await().until(() -> planner.threads.size() == 1);

        next.giveUp();
        next.begin(ROWS, epoch(1));
        assertThat(next.take(2)).isNull();
        planner.mayGoOn.countDown();
        await().until(() -> orderThreads() == 0);

        assertThat(next.take(1)).isNull();
        assertThat(planner.threads).hasSize(1);
    }

    @Test
    void ourSamplersLeaveAnOrderThatIsGivenUpHalfWay() {
        Sampler sampler = Sampler.random(1);
        NextPlan large = new NextPlan(ofSamples(sampler), () -> 8 * ROOM);
        large.begin(100_000_000, epoch(0)); // takes seconds
        await().until(() -> orderThreads() == 1);

        large.close();

        await().atMost(Duration.ofSeconds(3)).until(() -> orderThreads() == 0); // less than the order takes
    }

    @Test
    void nothingBeginsOnceItIsClosed() {
        next.close();
        next.begin(ROWS, epoch(0));

        assertThat(next.take(1)).isNull();
        assertThat(planner.threads).isEmpty();
    }

    @Test
    void aPlanThatCannotBeMadeCountsAsNotMade() {
        for (Throwable failure : List.of(new IllegalStateException("broken"), new OutOfMemoryError("simulated"))) {
            planner.failure = failure;
            next.begin(ROWS, epoch(0));

            assertThat(next.take(1)).isNull();
        }
        assertThat(planner.threads).hasSize(2);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1000000000, false",
        "262143, 1000000000, false",
        "262144, 1000000000, true",
        "1000000, 4000000, true",
        "1000000, 3999999, false",
        "1000000, 0, false"
    })
    void itIsMadeAheadWhereThatPaysAndLeavesTheHeapThreeQuarters(long bytes, long freeHeap, boolean isMade) {
        planner.bytes = bytes;
        NextPlan bounded = new NextPlan(planner, () -> freeHeap);
        bounded.begin(ROWS, epoch(0));

        assertThat(bounded.take(1) != null).isEqualTo(isMade);
    }

    @Test
    void theFreeHeapIsThatOfThisJvm() {
        NextPlan ofThisHeap = new NextPlan(planner);

        planner.bytes = Runtime.getRuntime().maxMemory() / 4 + 1;
        ofThisHeap.begin(ROWS, epoch(0));
        assertThat(ofThisHeap.take(1)).isNull();
        planner.bytes = 1 << 20;
        ofThisHeap.begin(ROWS, epoch(0));
        assertThat(ofThisHeap.take(1)).isNotNull();
    }

    @Test
    void thereIsNoEpochAfterTheLastNumber() {
        next.begin(ROWS, epoch(Long.MAX_VALUE));

        assertThat(planner.threads).isEmpty();
    }

    @Test
    void ordersOfEndedEpochsCountAsFreeUntilTheyAreCollected() {
        planner.bytes = 1_000_000;
        NextPlan bounded = new NextPlan(planner, () -> 3_000_000);
        Plan first = epoch(0);
        Plan second = epoch(1);
        List<Object> uncollected = List.of(first.order(), second.order());

        bounded.begin(ROWS, first); // a quarter of 3 MB is not enough
        assertThat(bounded.take(1)).isNull();
        first.release();
        bounded.begin(ROWS, second); // but of 3 MB and the first order
        assertThat(bounded.take(2)).isNotNull();
        assertThat(uncollected).hasSize(2);
    }

    private static Plan epoch(long number) {
        return ofSamples(Sampler.random(1)).whole(10, number);
    }

    private static long orderThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("larder-order"))
                .count();
    }

    private static EpochPlanner ofSamples(Sampler sampler) {
        return new EpochPlanner.OfSamples(sampler, new SamplePlan.Batching(10, LastBatch.SHORT, true, Shard.whole()));
    }

    /** Plans epochs over a handful of rows, and takes note of the threads that ask. */
    private static final class Planner implements EpochPlanner {
        final Deque<String> threads = new ConcurrentLinkedDeque<>();
        final CountDownLatch mayGoOn = new CountDownLatch(1);
        volatile boolean holdsUp;
        volatile @Nullable Throwable failure;
        volatile long bytes = 1 << 20;

        @Override
        public Plan whole(long rows, long epoch) {
            threads.add(Thread.currentThread().getName());
            while (holdsUp && mayGoOn.getCount() > 0) {
                Thread.onSpinWait(); // as one who does not look whether it is wanted
            }
            if (failure instanceof Error error) {
                throw error;
            } else if (failure instanceof RuntimeException exception) {
                throw exception;
            }
            return ofSamples(Sampler.sequential()).whole(10, epoch);
        }

        @Override
        public Plan rest(long rows, long epoch, @Nullable Rest rest, long consumed, long length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean runsUserCode() {
            return false;
        }

        @Override
        public long heapBytes(long rows) {
            return bytes;
        }
    }
}
