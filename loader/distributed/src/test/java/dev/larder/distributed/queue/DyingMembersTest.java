package dev.larder.distributed.queue;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Processes;
import dev.larder.testing.Rounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the members of a queue do when another is killed, or stopped, at whatever it was doing. */
class DyingMembersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final int BUFFERS = 4;

    private final OwnFolder folder = new OwnFolder();
    private final Regions regions = folder.regions();

    @AfterEach
    void clearUp() {
        regions.close();
        folder.close();
    }

    private HandleQueueBuilder queue() {
        return HandleQueue.builder(regions, "q")
                .capacity(BUFFERS)
                .buffers(BUFFERS)
                .bufferBytes(QueueChild.BUFFER_BYTES);
    }

    private ChildJvm start(String does) {
        ChildJvm child = launch(does);
        child.awaitLine("ready");
        return child;
    }

    private ChildJvm launch(String does) {
        return ChildJvm.start(QueueChild.class, folder.path().toString(), "q", does);
    }

    @Test
    void aBufferThatADeadProducerHadClaimedIsFreeAgain() {
        try (HandleQueue queue = queue().openOrCreate(PATIENCE);
                ChildJvm child = start("claim")) {
            child.kill();

            for (int i = 0; i < BUFFERS; i++) {
                assertThat(queue.claim(SOON).isHeld()).isTrue();
            }
            assertThat(queue.lost()).isZero();
        }
    }

    @Test
    void whatADeadProducerHadPutStaysInTheQueue() {
        try (HandleQueue queue = queue().openOrCreate(PATIENCE);
                ChildJvm child = start("put")) {
            child.kill();
            assertThat(queue.lost()).isZero();

            Handle taken = requireNonNull(queue.take(SOON));

            assertThat(taken.tag()).isEqualTo(99);
            taken.giveBack();
        }
    }

    @Test
    void whatADeadConsumerHadTakenIsCountedAndItsBufferFree() {
        try (HandleQueue queue = queue().openOrCreate(PATIENCE)) {
            queue.put(queue.claim(PATIENCE), PATIENCE);
            try (ChildJvm child = start("take")) {
                child.kill();
            }
            for (int i = 0; i < BUFFERS; i++) {
                assertThat(queue.claim(SOON).isHeld()).isTrue();
            }
            assertThat(queue.lost()).isEqualTo(1);
        }
    }

    @Test
    void whatADeadConsumerHadTakenIsRedeliveredIfAskedFor() {
        try (HandleQueue queue = queue().redeliver().openOrCreate(PATIENCE)) {
            queue.put(queue.claim(PATIENCE).tag(7), PATIENCE);
            try (ChildJvm child = start("take")) {
                child.kill();
            }
            assertThat(requireNonNull(queue.take(SOON)).tag()).isEqualTo(7);
            assertThat(queue.lost()).isZero();
        }
    }

    @Test
    void aStoppedConsumerKeepsItsBufferAndNothingElse() {
        try (HandleQueue queue = queue().openOrCreate(PATIENCE)) {
            queue.put(queue.claim(PATIENCE), PATIENCE);
            try (ChildJvm child = start("take")) {
                Processes.signal("STOP", child.pid());
                for (int i = 1; i < BUFFERS; i++) {
                    assertThat(queue.claim(SOON).isHeld()).isTrue();
                }
                assertThatThrownBy(() -> queue.claim(Duration.ofMillis(100)))
                        .hasMessageContaining("takenByPids={" + child.pid() + "=1}");
            }
        }
    }

    @Test
    void killedMembersNeitherStopTheOthersNorLoseWhatTheyHadPut() throws ExecutionException, InterruptedException {
        Rounds rounds = Rounds.of("killed members", 2);
        try (HandleQueue queue = queue().openOrCreate(PATIENCE)) {
            for (int round = 0; round < rounds.count(); round++) {
                long lostBefore = queue.lost();
                Work work;
                try (ChildJvm child = launch("put-and-take");
                        ChildJvm other = launch("put-and-take")) {
                    child.awaitLine("ready");
                    other.awaitLine("ready");
                    work = new Work(queue);
                    work.requireProgress();
                    LockSupport.parkNanos(rounds.momentNs(30)); // to kill them in any call
                    child.kill();
                    other.kill();
                    work.requireProgress();
                }
                work.stop();
                requireWholePool(queue);
                assertThat(queue.lost() - lostBefore).isBetween(0L, 2L); // one for each consumer
            }
        }
    }

    @Test
    void withRedeliveryEverythingComesAtLeastOnceWhoeverDies() throws ExecutionException, InterruptedException {
        Rounds rounds = Rounds.of("redelivery", 2);
        AtomicLong items = new AtomicLong();
        AtomicBoolean done = new AtomicBoolean();
        try (HandleQueue queue = queue().redeliver().openOrCreate(PATIENCE);
                SharedArray counts = SharedArray.openOrCreate(regions, "counts", Dtype.parse("<i8"), 10_000_000)) {
            CompletableFuture<Void> producer = CompletableFuture.runAsync(
                    () -> {
                        Handle handle = queue.newHandle();
                        while (!done.get() && items.get() < counts.elementCount()) {
                            QueueChild.put(queue, handle, -1, items.getAndIncrement());
                        }
                    },
                    task -> new Thread(task, "producer").start());
            for (int round = 0; round < rounds.count(); round++) {
                try (ChildJvm child = launch("count");
                        ChildJvm other = launch("count")) {
                    child.awaitLine("ready");
                    other.awaitLine("ready");
                    LockSupport.parkNanos(rounds.momentNs(20)); // to kill them in any call
                    child.kill();
                    other.kill();
                }
            }
            done.set(true);
            CompletableFuture<Void> rest = drain(queue, counts);
            producer.get();
            queue.finish();
            rest.get();
            requireEach(counts, items.get(), 1L + rounds.count() * 2L);
            requireWholePool(queue);
        }
    }

    private static void requireEach(SharedArray counts, long items, long limit) {
        for (long i = 0; i < items; i++) {
            long count = counts.getLong(i);
            if (count < 1 || count > limit) {
                assertThat(count).as("item %s", i).isBetween(1L, limit);
            }
        }
    }

    private static CompletableFuture<Void> drain(HandleQueue queue, SharedArray counts) {
        return CompletableFuture.runAsync(
                () -> {
                    Handle handle = queue.newHandle();
                    while (queue.take(handle, PATIENCE)) {
                        counts.addLong(handle.tag(), 1);
                        handle.giveBack();
                    }
                },
                task -> new Thread(task, "consumer").start());
    }

    private static void requireWholePool(HandleQueue queue) {
        List<Handle> all = new ArrayList<>();
        for (int i = 0; i < BUFFERS; i++) {
            all.add(queue.claim(SOON));
        }
        assertThat(queue.size()).isZero();
        all.forEach(Handle::giveBack);
    }

    /** A producer and a consumer that no death may stop. */
    private static final class Work {
        private final HandleQueue queue;
        private final AtomicBoolean stopped = new AtomicBoolean();
        private final Map<Long, Long> last = new HashMap<>();
        private final CompletableFuture<Void> producer;
        private final CompletableFuture<Void> consumer;
        private final AtomicLong put = new AtomicLong();
        private final AtomicLong taken = new AtomicLong();

        Work(HandleQueue queue) {
            this.queue = queue;
            this.producer = CompletableFuture.runAsync(this::produce, task -> new Thread(task, "producer").start());
            this.consumer = CompletableFuture.runAsync(this::consume, task -> new Thread(task, "consumer").start());
        }

        private void produce() {
            Handle handle = queue.newHandle();
            for (long number = 0; !stopped.get(); number++) {
                QueueChild.put(queue, handle, -1, number);
                put.set(number);
            }
        }

        private void consume() {
            Handle handle = queue.newHandle();
            while (!producer.isDone() || queue.size() > 0) {
                if (queue.tryTake(handle)) {
                    check(handle);
                    taken.incrementAndGet();
                    handle.giveBack();
                } else {
                    Thread.onSpinWait();
                }
            }
        }

        /** What one producer has put comes in its order, and once. */
        private void check(Handle handle) {
            QueueChild.requireWhole(handle);
            long before = last.getOrDefault(handle.buffer().getLong(0), -1L);
            assertThat(handle.tag()).isGreaterThan(before);
            last.put(handle.buffer().getLong(0), handle.tag());
        }

        /** Both go on soon after the death of others. */
        void requireProgress() {
            long putBefore = put.get();
            long takenBefore = taken.get();
            await().atMost(SOON).pollInterval(Duration.ofMillis(1)).untilAsserted(() -> {
                assertThat(put.get()).isGreaterThanOrEqualTo(putBefore + BUFFERS + 2);
                assertThat(taken.get()).isGreaterThanOrEqualTo(takenBefore + BUFFERS + 2);
            });
        }

        void stop() throws ExecutionException, InterruptedException {
            stopped.set(true);
            producer.get();
            consumer.get();
        }
    }

    @Test
    void aProducerThatDiesBeforeItFinishesKeepsNobodyFromTheEnd() {
        try (HandleQueue queue = queue().openOrCreate(PATIENCE);
                ChildJvm child = start("put")) {
            child.kill();

            requireNonNull(queue.take(SOON)).giveBack();

            assertThat(queue.take(SOON)).isNull();
        }
    }

    @Test
    void aProducerThatDiesEndsNothingWhileAnotherProduces() {
        try (HandleQueue queue = queue().openOrCreate(PATIENCE);
                HandleQueue other = HandleQueue.open(regions, "q", PATIENCE)) {
            Handle handle = other.claim(PATIENCE);
            try (ChildJvm child = start("put")) {
                child.kill();
            }
            requireNonNull(queue.take(SOON)).giveBack();
            assertThatThrownBy(() -> queue.take(Duration.ofMillis(100))).hasMessageContaining("step=take");

            other.put(handle, PATIENCE);
            other.finish();

            requireNonNull(queue.take(SOON)).giveBack();
            assertThat(queue.take(SOON)).isNull();
        }
    }
}
