package dev.larder.distributed.queue;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("races")
class HandleQueueTest {
    private static final Dtype FLOAT = Dtype.parse("<f4");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(60);

    private final OwnFolder folder = new OwnFolder();
    private final Regions regions = folder.regions();

    @AfterEach
    void clearUp() {
        regions.close();
        folder.close();
    }

    private HandleQueue queue(int capacity, int buffers) {
        return HandleQueue.builder(regions, "q")
                .capacity(capacity)
                .buffers(buffers)
                .bufferBytes(1000)
                .openOrCreate(PATIENCE);
    }

    @Test
    void whatIsPutIsTakenWithWhatWasSaidOfIt() {
        try (HandleQueue queue = queue(4, 2);
                Regions others = folder.regions();
                HandleQueue other = HandleQueue.open(others, "q", PATIENCE)) {
            Handle sent = queue.claim(PATIENCE);
            sent.buffer().putFloat(4, 2.5f);
            queue.put(sent.describe(FLOAT, 3, 5).tag(77), PATIENCE);

            Handle taken = requireNonNull(other.take(PATIENCE));

            assertThat(taken.buffer().getFloat(4)).isEqualTo(2.5f);
            assertThat(taken.dtype()).isEqualTo(FLOAT);
            assertThat(taken.shape()).containsExactly(3, 5);
            assertThat(taken.byteSize()).isEqualTo(60);
            assertThat(taken.tag()).isEqualTo(77);
            taken.giveBack();
        }
    }

    @Test
    void useAfterHandingOverIsRefusedOnBothSides() {
        try (HandleQueue queue = queue(4, 1)) {
            Handle sent = queue.claim(PATIENCE);
            UnsafeBuffer kept = sent.buffer();
            queue.put(sent, PATIENCE);
            assertThatThrownBy(sent::buffer).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> queue.put(sent, PATIENCE)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> kept.putByte(0, (byte) 1)).isInstanceOf(IndexOutOfBoundsException.class);

            Handle taken = requireNonNull(queue.take(PATIENCE));
            assertThatThrownBy(() -> taken.describe(FLOAT, 1)).isInstanceOf(IllegalStateException.class);
            taken.giveBack();
            assertThatThrownBy(taken::giveBack).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(taken::byteSize).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aFullQueueAndOneWithoutFreeBuffersEndWaitsInTime() {
        try (HandleQueue queue = queue(1, 2)) {
            queue.put(queue.claim(PATIENCE), PATIENCE);
            Handle second = queue.claim(PATIENCE);

            assertThatThrownBy(() -> queue.put(second, SHORT))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("step=put")
                    .hasMessageContaining(
                            "queued=1 claimedByPids={" + ProcessHandle.current().pid() + "=1}");
            assertThatThrownBy(() -> queue.claim(SHORT)).hasMessageContaining("step=claim");
            assertThat(second.isHeld()).isTrue();
            second.giveBack();
            assertThat(queue.claim(PATIENCE).isHeld()).isTrue();
        }
    }

    @Test
    void consumersDrainTheQueueAndSeeItsEnd() {
        try (HandleQueue queue = queue(4, 2)) {
            queue.put(queue.claim(PATIENCE), PATIENCE);
            CompletableFuture<Boolean> second = CompletableFuture.supplyAsync(() -> {
                Handle handle = queue.newHandle();
                queue.take(handle, PATIENCE);
                handle.giveBack();
                return queue.take(handle, PATIENCE);
            });

            queue.finish();

            assertThat(second).succeedsWithin(PATIENCE).isEqualTo(false);
            Handle late = queue.claim(PATIENCE);
            assertThatThrownBy(() -> queue.put(late, PATIENCE)).hasMessageContaining("queue was ended");
        }
    }

    @Test
    void destroyingWakesEverybody() {
        try (HandleQueue queue = queue(1, 1);
                HandleQueue other = HandleQueue.open(regions, "q", PATIENCE)) {
            CompletableFuture<?> taker = CompletableFuture.runAsync(() -> other.take(PATIENCE), this::onNewThread);
            Handle claimed = queue.claim(PATIENCE);
            CompletableFuture<?> claimer = CompletableFuture.runAsync(() -> other.claim(PATIENCE), this::onNewThread);
            awaitListener(QueueDescriptor.ITEMS_BELL_OFFSET);
            awaitListener(QueueDescriptor.BUFFERS_BELL_OFFSET);

            queue.destroy();
            queue.destroy();

            assertThat(taker).failsWithin(PATIENCE).withThrowableThat().withMessageContaining("destroyed");
            assertThat(claimer).failsWithin(PATIENCE).withThrowableThat().withMessageContaining("destroyed");
            assertThat(claimed.isHeld()).isTrue();
        }
    }

    /** Whoever waits at a bell has set its lowest bit. */
    private void awaitListener(long bell) {
        try (Region region = regions.open("q", QueueDescriptor.KIND, PATIENCE)) {
            await().atMost(PATIENCE).until(() -> region.memory().getIntVolatile(bell) % 2 == 1);
        }
    }

    @Test
    void closingFreesWhatWasClaimedAndCountsWhatWasTaken() {
        try (HandleQueue queue = queue(4, 2)) {
            HandleQueue leaving = HandleQueue.open(regions, "q", PATIENCE);
            queue.put(queue.claim(PATIENCE), PATIENCE);
            Handle taken = requireNonNull(leaving.take(PATIENCE));
            Handle claimed = leaving.claim(PATIENCE);
            UnsafeBuffer late = claimed.buffer();

            leaving.close();

            assertThat(queue.lost()).isEqualTo(1);
            late.putByte(0, (byte) 99); // by a thread that does not know yet
            assertThat(queue.claim(PATIENCE).buffer().getByte(0)).isZero();
            assertThat(queue.claim(PATIENCE).buffer().getByte(0)).isZero();
            assertThatThrownBy(claimed::buffer).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(taken::giveBack).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void whatALeavingConsumerHadTakenIsRedeliveredIfAskedFor() {
        try (HandleQueue queue = HandleQueue.builder(regions, "r")
                .buffers(1)
                .bufferBytes(8)
                .redeliver()
                .openOrCreate(PATIENCE)) {
            HandleQueue leaving = HandleQueue.open(regions, "r", PATIENCE);
            queue.put(queue.claim(PATIENCE).tag(5), PATIENCE);
            leaving.take(PATIENCE);
            queue.finish();
            leaving.close();

            Handle again = requireNonNull(queue.take(PATIENCE));
            assertThat(again.tag()).isEqualTo(5);
            again.giveBack();
            assertThat(queue.take(PATIENCE)).isNull();
            assertThat(queue.lost()).isZero();
        }
    }

    @Test
    void arraysAndNamesPassWithoutTheirBytes() {
        try (HandleQueue queue = queue(4, 0);
                Regions others = folder.regions();
                HandleQueue other = HandleQueue.open(others, "q", PATIENCE);
                SharedArray array = SharedArray.openOrCreate(regions, "weights", FLOAT, 10, 20)) {
            array.setFloat(150, 3f);
            queue.putArray(array, 1, PATIENCE);
            queue.putName("mnist/train-images", 2, PATIENCE);

            Handle handle = other.newHandle();
            other.take(handle, PATIENCE);
            assertThat(handle.array().getFloat(150)).isEqualTo(3f);
            assertThat(handle.shape()).containsExactly(10, 20);
            handle.giveBack();
            other.take(handle, PATIENCE);
            assertThat(handle.name()).isEqualTo("mnist/train-images");
            assertThat(handle.tag()).isEqualTo(2);
            assertThatThrownBy(handle::array).isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @Test
    void ofArraysThatWereHandedOverThoseInHandAndTheLastFewStayOpen() {
        try (HandleQueue queue = queue(4, 0);
                Regions others = folder.regions();
                HandleQueue other = HandleQueue.open(others, "q", PATIENCE)) {
            Handle inHand = handOver(queue, other, 0);
            SharedArray first = inHand.array();
            SharedArray second = handOverAndBack(queue, other, 1);
            for (int number = 2; number < ReceivedArrays.LIMIT; number++) {
                handOverAndBack(queue, other, number);
            }
            assertThat(second.getFloat(0)).isEqualTo(1);

            SharedArray last = handOverAndBack(queue, other, ReceivedArrays.LIMIT);

            assertThat(second.region().memory().isClosed()).isTrue();
            assertThat(first.getFloat(0)).isZero();
            assertThat(inHand.array()).isSameAs(first);
            assertThat(last.getFloat(0)).isEqualTo(ReceivedArrays.LIMIT);
        }
    }

    private SharedArray handOverAndBack(HandleQueue from, HandleQueue to, int number) {
        try (Handle handle = handOver(from, to, number)) {
            return handle.array();
        }
    }

    private Handle handOver(HandleQueue from, HandleQueue to, int number) {
        SharedArray array = SharedArray.openOrCreate(regions, "array-" + number, FLOAT, 4); // closed with the regions
        array.setFloat(0, number);
        from.putArray(array, number, PATIENCE);
        return requireNonNull(to.take(PATIENCE));
    }

    @Test
    void aQueueWhoseMemoryIsSpoiledIsRefused() {
        try (HandleQueue queue = queue(4, 0);
                Regions others = folder.regions();
                Region region = others.open("q", QueueDescriptor.KIND, PATIENCE)) {
            for (int capacity : new int[] {-1, 0, 5000, Integer.MAX_VALUE}) {
                region.memory().putInt(QueueDescriptor.CAPACITY_OFFSET, capacity);
                assertThatThrownBy(() -> HandleQueue.open(others, queue.name(), PATIENCE))
                        .hasMessageStartingWith("the region is damaged: name=q kind=handle-queue");
            }
        }
    }

    @Test
    void oneThreadSeesWhatAModelSays() {
        long seed = System.nanoTime();
        System.err.println("seed " + seed);
        Random random = new Random(seed);
        ArrayDeque<Long> model = new ArrayDeque<>();
        List<Handle> claimed = new ArrayList<>();
        List<Handle> taken = new ArrayList<>();
        try (HandleQueue queue = queue(5, 7)) {
            for (int turn = 0; turn < 20_000; turn++) {
                step(queue, model, claimed, taken, random);
                assertThat(queue.size()).isEqualTo(model.size());
            }
        }
    }

    private static void step(
            HandleQueue queue, ArrayDeque<Long> model, List<Handle> claimed, List<Handle> taken, Random random) {
        int inUse = claimed.size() + taken.size() + model.size();
        switch (random.nextInt(4)) {
            case 0 -> {
                if (inUse < 7) {
                    claimed.add(queue.claim(Duration.ZERO));
                }
            }
            case 1 -> {
                if (!claimed.isEmpty() && model.size() < 5) {
                    long tag = random.nextLong();
                    queue.put(claimed.remove(random.nextInt(claimed.size())).tag(tag), Duration.ZERO);
                    model.add(tag);
                }
            }
            case 2 -> {
                Handle handle = queue.newHandle();
                assertThat(queue.tryTake(handle)).isEqualTo(!model.isEmpty());
                if (handle.isHeld()) {
                    assertThat(handle.tag()).isEqualTo(model.remove());
                    taken.add(handle);
                }
            }
            default -> {
                if (!taken.isEmpty()) {
                    taken.remove(random.nextInt(taken.size())).giveBack();
                }
            }
        }
    }

    @Test
    void manyThreadsLoseAndDoubleNothing() {
        int producers = 3;
        int each = 20_000;
        AtomicIntegerArray seen = new AtomicIntegerArray(producers * each);
        AtomicInteger next = new AtomicInteger();
        try (HandleQueue queue = HandleQueue.builder(regions, "many")
                .capacity(8)
                .buffers(6)
                .bufferBytes(64)
                .producers(producers)
                .openOrCreate(PATIENCE)) {
            List<CompletableFuture<?>> all = new ArrayList<>();
            for (int i = 0; i < producers; i++) {
                all.add(CompletableFuture.runAsync(() -> produce(next, each), this::onNewThread));
                all.add(CompletableFuture.runAsync(() -> consume(queue, seen), this::onNewThread));
            }
            assertThat(CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new)))
                    .succeedsWithin(Duration.ofSeconds(60));
        }
        for (int i = 0; i < producers * each; i++) {
            assertThat(seen.get(i)).as("item %s", i).isEqualTo(1);
        }
    }

    private void onNewThread(Runnable task) {
        new Thread(task, "queue-test").start();
    }

    private void produce(AtomicInteger next, int count) {
        try (HandleQueue own = HandleQueue.open(regions, "many", PATIENCE)) {
            Handle handle = own.newHandle();
            for (int i = 0; i < count; i++) {
                own.claim(handle, PATIENCE);
                int item = next.getAndIncrement();
                handle.buffer().putInt(0, item);
                handle.buffer().putInt(60, ~item);
                own.put(handle, PATIENCE);
            }
            own.finish();
        }
    }

    private static void consume(HandleQueue queue, AtomicIntegerArray seen) {
        Handle handle = queue.newHandle();
        while (queue.take(handle, PATIENCE)) {
            int item = handle.buffer().getInt(0);
            assertThat(handle.buffer().getInt(60)).isEqualTo(~item);
            seen.incrementAndGet(item);
            handle.giveBack();
        }
    }

    @Test
    void queuesOfOtherSizesAreRefusedInWordsOfBothSides() {
        HandleQueue queue = queue(4, 2);

        assertThatThrownBy(() -> queue(8, 2)).hasMessageContaining("capacity=4").hasMessageContaining("capacity=8");
        queue.close();
        queue.close();
        assertThatThrownBy(queue::size).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aQueueThatWasUsedUpIsMadeAnewButNotOneWithSomethingInIt() {
        for (int run = 0; run < 2; run++) {
            try (HandleQueue queue = queue(4 + run, 2)) {
                queue.put(queue.claim(PATIENCE).tag(run), PATIENCE);
                queue.finish();
            }
            try (HandleQueue late = queue(4 + run, 2)) {
                assertThat(requireNonNull(late.take(PATIENCE)).tag()).isEqualTo(run);
                assertThat(late.take(PATIENCE)).isNull();
            }
        }
    }

    @Test
    void whoDestroysAQueueLateLeavesTheNextOfItsName() {
        try (HandleQueue first = queue(4, 2)) {
            first.destroy();
            try (HandleQueue second = queue(4, 2)) {
                first.destroy();

                try (HandleQueue same = HandleQueue.open(regions, "q", PATIENCE)) {
                    same.put(same.claim(PATIENCE), PATIENCE);
                }
                assertThat(second.size()).isEqualTo(1);
            }
        }
    }

    @Test
    void anArrayThatIsThereNoMoreIsNotWaitedFor() {
        try (HandleQueue queue = queue(4, 0)) {
            try (SharedArray array = SharedArray.openOrCreate(regions, "weights", FLOAT, 10)) {
                queue.putArray(array, 1, PATIENCE);
            }
            regions.remove("weights");
            Handle handle = requireNonNull(queue.take(PATIENCE));

            assertThatThrownBy(handle::array).hasMessageContaining("the array that was put no longer exists");
            assertThatThrownBy(() -> queue.claim(PATIENCE)).isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @Test
    void whatCannotBeIsNotDescribed() {
        try (HandleQueue queue = queue(4, 1)) {
            Handle handle = queue.claim(PATIENCE);

            assertThatThrownBy(() -> handle.describe(FLOAT, -2, -3)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> handle.describe(FLOAT, new long[14])).isInstanceOf(IllegalArgumentException.class);
            assertThat(handle.dtype().descr()).isEqualTo("|u1");
        }
    }

    @Test
    void whatIsPutWhileTheQueueEndsIsTakenOrRefused() {
        for (int round = 0; round < 200; round++) {
            try (HandleQueue queue = HandleQueue.builder(regions, "end" + round)
                    .buffers(2)
                    .bufferBytes(8)
                    .openOrCreate(PATIENCE)) {
                CompletableFuture<Integer> put =
                        CompletableFuture.supplyAsync(() -> putUntilTheEnd(queue), this::onNewThread);
                CompletableFuture<Integer> taken =
                        CompletableFuture.supplyAsync(() -> takeUntilTheEnd(queue), this::onNewThread);
                queue.end();

                assertThat(taken).succeedsWithin(PATIENCE).isEqualTo(put.join());
            }
            regions.remove("end" + round);
        }
    }

    private static int putUntilTheEnd(HandleQueue queue) {
        Handle handle = queue.newHandle();
        for (int put = 0; ; put++) {
            try {
                queue.claim(handle, PATIENCE);
                queue.put(handle, PATIENCE);
            } catch (LarderException e) {
                assertThat(e.code()).isEqualTo(ErrorCode.REFUSED);
                return put;
            }
        }
    }

    private static int takeUntilTheEnd(HandleQueue queue) {
        Handle handle = queue.newHandle();
        int taken = 0;
        for (; queue.take(handle, PATIENCE); taken++) {
            handle.giveBack();
        }
        return taken;
    }
}
