package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.internal.ring.Deliveries;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.transform.RowFunction;
import dev.larder.npy.Dtype;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
@Tag("races")
class LoaderEndingsTest {
    private final Shelf shelf = Shelf.ofSamples(1000, 300);

    private LoaderBuilder builder() {
        return Loader.over(shelf.dataset).shuffle(1).batchSize(10).threads(2).prefetch(3);
    }

    @AfterEach
    void noThreadIsLeft() {
        shelf.close();

        assertThat(Shelf.gatherThreads()).isZero();
    }

    @Test
    void loopLeftEarlyDoesNotDisturbTheNextEpoch() {
        try (Loader loader = builder().build();
                Loader whole = builder().build()) {
            for (long epoch = 0; epoch < 200; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    if (batch.number() == epoch % 5) {
                        break;
                    }
                }
            }

            assertThat(Shelf.checksum(loader.epoch(7))).isEqualTo(Shelf.checksum(whole.epoch(7)));
        }
    }

    @Test
    void batchThatWasKeptForLongIsNotUsedAgainSoonAfterItIsClosed() {
        try (Loader loader = builder().batchSize(1).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch kept = batches.next().keep();
            for (int i = 0; i < 400; i++) {
                batches.next();
                if (i == Deliveries.REST + 1) { // about when its turn would come again
                    kept.close();
                }
                assertThat(kept.isOpen()).isEqualTo(i <= Deliveries.REST);
            }
            kept.close(); // again: it is nobody else's by now
        }
    }

    @Test
    void datasetThatIsReplacedAndUnlinkedMeanwhileIsReadToTheEnd() {
        try (Loader loader = builder().build();
                Loader whole = builder().build()) {
            long expected = Shelf.checksum(whole.epoch(1));
            Iterator<Batch> batches = loader.epoch(1).iterator();
            BatchChecksum checksum = new BatchChecksum();
            checksum.update(batches.next());
            shelf.replaceAndUnlink(Map.of("images", Shelf.noise(3, 3), "labels", Shelf.labels(3)));
            batches.forEachRemaining(checksum::update);

            assertThat(checksum.value()).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void anyMixOfEndingsLeavesALoaderThatWorks(long seed) {
        Random random = new Random(seed);
        Deque<Batch> kept = new ArrayDeque<>();
        try (Loader loader = builder().build();
                Loader whole = builder().build()) {
            for (int i = 0; i < 300; i++) {
                Epoch epoch = loader.epoch(random.nextInt(5));
                takeSome(epoch, random, kept);
                if (random.nextBoolean()) {
                    epoch.close();
                }
            }
            kept.forEach(Batch::close);

            assertThat(Shelf.checksum(loader.epoch(7))).isEqualTo(Shelf.checksum(whole.epoch(7)));
        }
    }

    /** Takes some batches of an epoch, keeps or closes some of them, and checks that they hold what they say. */
    private static void takeSome(Epoch epoch, Random random, Deque<Batch> kept) {
        Iterator<Batch> batches = epoch.iterator();
        for (int i = random.nextInt(8); i > 0; i--) {
            Batch batch = batches.next();
            switch (random.nextInt(4)) {
                case 0 -> kept.add(batch.keep());
                case 1 -> batch.close();
                default -> assertThat(Shelf.labels(batch)).isEqualTo(rows(batch));
            }
            if (kept.size() > 2 || (random.nextInt(4) == 0 && !kept.isEmpty())) {
                Batch oldest = kept.remove();
                assertThat(Shelf.labels(oldest)).isEqualTo(rows(oldest));
                oldest.close();
            }
        }
    }

    private static List<Integer> rows(Batch batch) {
        return Arrays.stream(batch.rows()).mapToObj(Math::toIntExact).toList();
    }

    @Test
    void loopOverAnEndedEpochFailsRatherThanSeemingComplete() {
        try (Loader loader = builder().build()) {
            Iterator<Batch> first = loader.epoch(0).iterator();
            first.next();
            loader.epoch(1);

            assertThatThrownBy(first::next)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("epoch has ended");
        }
    }

    @Test
    void closedEpochEndsItsLoopAndIsClosedTwiceWithoutHarm() {
        try (Loader loader = builder().build()) {
            Epoch epoch = loader.epoch(0);
            Iterator<Batch> batches = epoch.iterator();
            Batch batch = batches.next();
            epoch.close();
            epoch.close();

            assertThat(batch.isOpen()).isFalse();
            assertThatThrownBy(batches::next).isInstanceOf(IllegalStateException.class);
            assertThat(Shelf.labels(loader.epoch(0))).hasSize(100);
        }
    }

    @Test
    void loaderClosedByAnotherThreadEndsAWaitingConsumer() {
        Loader loader = builder().prefetch(1).build();
        Iterator<Batch> batches = loader.epoch(0).iterator();
        batches.next().keep();
        CompletableFuture<Batch> waiting = waitingFor(batches);

        loader.close();

        assertThatThrownBy(waiting::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("loader is closed");
    }

    @Test
    void consumerWaitsNoLongerThanItsTimeoutAndSaysForWhat() {
        try (Loader loader =
                builder().prefetch(2).timeout(Duration.ofMillis(50)).build()) {
            Iterator<Batch> batches = loader.epoch(4).iterator();
            batches.next().keep();
            batches.next().keep();

            assertThatThrownBy(batches::next)
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE))
                    .hasMessageContaining(
                            "no slot for the next batch, since all batches are open: dataset=shelf version=1"
                                    + " stage=slot epoch=4 batch=2")
                    .hasMessageContaining("slots=2 openBatches=2")
                    .hasMessageEndingWith("close batches that you keep, or raise prefetch(…)");
        }
    }

    @Test
    void consumerGoesOnWhenAnotherThreadClosesAKeptBatch() {
        try (Loader loader = builder().prefetch(1).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch kept = batches.next().keep();
            Thread consumer = Thread.currentThread();
            CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> {
                await().until(() -> isParked(consumer));
                kept.close();
            });

            assertThat(batches.next().number()).isEqualTo(1);
            closing.join();
        }
    }

    @Test
    void consumerWithoutGatherThreadsGoesOnWhenAnotherThreadClosesAKeptBatch() throws Exception {
        try (Loader loader =
                builder().prefetch(1).threads(0).timeout(Duration.ofMinutes(5)).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch kept = batches.next().keep();
            CompletableFuture<Batch> waiting = waitingFor(batches);

            kept.close();

            assertThat(waiting.get(20, TimeUnit.SECONDS).number()).isEqualTo(1);
        }
    }

    @Test
    void interruptEndsTheWaitAndStaysSet() {
        try (Loader loader = builder().prefetch(1).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            batches.next().keep();
            Thread.currentThread().interrupt();

            assertThatThrownBy(batches::next)
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERRUPTED))
                    .hasMessageContaining("interrupted while waiting for a batch");
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void secondThreadInTheSameEpochIsRefused() {
        try (Loader loader = builder().prefetch(1).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch kept = batches.next().keep();
            CompletableFuture<Batch> waiting = waitingFor(batches);

            assertThatThrownBy(batches::next).hasMessageContaining("two threads take batches from one epoch");
            kept.close();
            assertThat(waiting.join().number()).isEqualTo(1);
        }
    }

    /** Counts its calls, and waits in each until it is interrupted, which it forgets. */
    private static final class Waiting {
        final AtomicInteger calls = new AtomicInteger();
        private final CountDownLatch never = new CountDownLatch(1);

        boolean isInterrupted() {
            calls.incrementAndGet();
            try {
                never.await();
                return false;
            } catch (InterruptedException forgotten) {
                return true;
            }
        }

        void requireOneCallWhenClosed(Loader loader) {
            loader.epoch(0);
            await().until(() -> calls.get() == 1);

            loader.close();

            assertThat(Shelf.gatherThreads()).isZero();
            assertThat(calls).hasValue(1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void closingCallsNoFunctionAgainWhateverItMakesOfTheInterrupt(boolean fails) {
        Waiting waiting = new Waiting();
        RowFunction function = (row, result) -> {
            if (waiting.isInterrupted() && fails) {
                throw new IllegalStateException("interrupted");
            }
        };
        Field field = Field.rows("labels").map(Dtype.parse("<i4"), new long[] {1}, function);

        waiting.requireOneCallWhenClosed(Loader.over(shelf.dataset)
                .fields(field)
                .onFailure(FailurePolicy.retry(3).thenSkip(1000))
                .batchSize(500)
                .threads(1)
                .build());
    }

    @Test
    void closingCallsNoSamplerAgainThatForgetsTheInterrupt() {
        Waiting waiting = new Waiting();
        Sampler sampler = (rows, epoch) -> new SampleOrder() {
            @Override
            public long length() {
                return rows;
            }

            @Override
            public long row(long position) {
                return waiting.isInterrupted() ? position : 0;
            }
        };

        waiting.requireOneCallWhenClosed(builder().sampler(sampler).threads(1).build());
    }

    @Test
    void aSampleThatFailsEndsItsBatch() {
        AtomicInteger calls = new AtomicInteger();
        Field field = Field.rows("labels").map(Dtype.parse("<i4"), new long[] {1}, (row, result) -> {
            calls.incrementAndGet();
            throw new IllegalStateException("bad");
        });
        try (Loader loader = Loader.over(shelf.dataset)
                .fields(field)
                .batchSize(500)
                .threads(1)
                .prefetch(1)
                .build()) {
            assertThatThrownBy(() -> loader.epoch(0).iterator().next()).hasMessageContaining("sample=0");
        }
        assertThat(calls).hasValue(1);
    }

    @Test
    void closedLoaderRefusesEverythingButClosing() {
        Loader loader = builder().build();
        Epoch epoch = loader.epoch(0);
        Batch batch = epoch.iterator().next().keep();
        loader.close();
        loader.close();
        epoch.close();
        batch.close();

        assertThatThrownBy(() -> loader.epoch(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(batch::size).isInstanceOf(IllegalStateException.class);
    }

    /** Takes the next batch in another thread, and returns when that one waits for it. */
    private static CompletableFuture<Batch> waitingFor(Iterator<Batch> batches) {
        CompletableFuture<Batch> batch = new CompletableFuture<>();
        Thread consumer = new Thread(() -> {
            try {
                batch.complete(batches.next());
            } catch (Throwable e) {
                batch.completeExceptionally(e);
            }
        });
        consumer.start();
        await().until(() -> isParked(consumer));
        return batch;
    }

    private static boolean isParked(Thread thread) {
        return thread.getState() == Thread.State.TIMED_WAITING;
    }
}
