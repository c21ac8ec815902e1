package dev.larder.distributed.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Regions;
import dev.larder.npy.Dtype;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("races")
class DoubleBufferTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(50);

    private final OwnFolder folder = new OwnFolder();
    private final Regions regions = folder.regions();
    private SharedArray array;

    @BeforeEach
    void open() {
        SharedArraySpec spec = SharedArraySpec.of("a", Dtype.parse("<f4"), 1000).withSpare();
        array = SharedArray.openOrCreate(regions, spec, PATIENCE);
    }

    @AfterEach
    void clearUp() {
        array.close();
        regions.close();
        folder.close();
    }

    @Test
    void whatIsPublishedIsReadAsAWhole() {
        float[] found = new float[1000];
        assertThat(array.snapshot(found, PATIENCE)).isZero();

        assertThat(array.publish(state -> state.fill(2.5), PATIENCE)).isEqualTo(1);
        array.setFloat(7, 99);

        assertThat(array.snapshot(found, PATIENCE)).isEqualTo(1);
        assertThat(found).containsOnly(2.5f);
        assertThat(array.published()).isEqualTo(1);
    }

    @Test
    void readersGetTheLastStateWhileAPublisherWorks() throws InterruptedException {
        array.publish(state -> state.fill(1), PATIENCE);
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        CompletableFuture<Long> publisher = CompletableFuture.supplyAsync(() -> array.publish(
                state -> {
                    state.fill(2);
                    writing.countDown();
                    await(mayEnd);
                },
                PATIENCE));
        writing.await();
        float[] found = new float[1000];

        assertThat(array.snapshot(found, SHORT)).isEqualTo(1);
        assertThat(found).containsOnly(1);
        assertThatThrownBy(() -> array.publish(state -> {}, SHORT)).hasMessageContaining("cannot take a lock in time");
        mayEnd.countDown();
        assertThat(publisher).succeedsWithin(PATIENCE).isEqualTo(2L);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aFailedPublisherChangesNothing() {
        array.publish(state -> state.fill(1), PATIENCE);

        assertThatThrownBy(() -> array.publish(
                        state -> {
                            state.setFloat(5, 7);
                            throw new IllegalStateException("no more");
                        },
                        PATIENCE))
                .hasMessage("no more");

        assertThat(array.getFloat(5)).isEqualTo(1);
        assertThat(array.published()).isEqualTo(1);
    }

    @Test
    void statesAreCopiedIntoBuffersToo() {
        array.publish(state -> state.setFloat(999, 4), PATIENCE);
        UnsafeBuffer target = new UnsafeBuffer(new byte[4010]);

        assertThat(array.snapshot(target, 10, PATIENCE)).isEqualTo(1);

        assertThat(target.getFloat(10 + 999 * 4)).isEqualTo(4);
    }

    @Test
    void readersOfManyThreadsNeverSeeHalfAState() {
        int states = 2000;
        CompletableFuture<?>[] readers = new CompletableFuture<?>[2];
        for (int i = 0; i < readers.length; i++) {
            readers[i] = CompletableFuture.runAsync(() -> readUntil(states), this::onNewThread);
        }
        for (int i = 1; i <= states; i++) {
            int value = i;
            array.publish(state -> state.fill(value), PATIENCE);
        }

        assertThat(CompletableFuture.allOf(readers)).succeedsWithin(PATIENCE);
    }

    private void onNewThread(Runnable task) {
        new Thread(task, "state-reader").start();
    }

    private void readUntil(int last) {
        float[] found = new float[1000];
        long number = 0;
        while (number < last) {
            long next = array.snapshot(found, PATIENCE);
            assertThat(next).isGreaterThanOrEqualTo(number);
            assertThat(found).containsOnly((float) next);
            number = next;
        }
    }

    @Test
    void aStateThatAFailedPublisherWroteOverMeanwhileIsCopiedAgain() {
        array.fill(1L);
        sequence(ArrayDescriptor.COPYING); // as one leaves it that dies copying the first state to the spare
        DoubleBuffer buffer = new DoubleBuffer(array.region(), array.byteSize());
        List<Float> found = new ArrayList<>();

        long number = buffer.snapshot(
                offset -> {
                    if (found.isEmpty()) {
                        assertThatThrownBy(() -> array.publish(state -> failAfterFilling(offset, found), PATIENCE))
                                .hasMessage("no more");
                    } else {
                        found.add(first(offset));
                    }
                },
                PATIENCE);

        assertThat(number).isEqualTo(1);
        assertThat(found).containsExactly(9f, 1f);
    }

    private void failAfterFilling(long offset, List<Float> found) {
        array.fill(9L);
        found.add(first(offset));
        throw new IllegalStateException("no more");
    }

    private float first(long offset) {
        return Float.intBitsToFloat(array.region().memory().getInt(offset));
    }

    private void sequence(long sequence) {
        array.region().memory().putLongVolatile(ArrayDescriptor.SEQUENCE_OFFSET, sequence);
    }

    @Test
    void aReaderWhomPublishersOutranDoesNotWaitForOneThatIsStopped() {
        DoubleBuffer buffer = new DoubleBuffer(array.region(), array.byteSize());
        SharedLock lock = new SharedLock(
                array.region(), ArrayDescriptor.PUBLISHERS_LOCK_OFFSET, ArrayDescriptor.PUBLISHERS_LOCK_SEAT);
        AtomicInteger copies = new AtomicInteger();
        try (SharedLock.Hold hold = lock.writeLock(PATIENCE)) {
            long number = buffer.snapshot(
                    offset -> {
                        if (copies.incrementAndGet() < 7) {
                            sequence((long) ArrayDescriptor.PHASES * copies.get()); // somebody was quicker
                        }
                    },
                    PATIENCE);

            assertThat(number).isEqualTo(6);
            assertThat(hold.wasAbandoned()).isFalse();
        }
    }
}
