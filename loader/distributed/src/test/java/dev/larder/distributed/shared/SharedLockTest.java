package dev.larder.distributed.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Regions;
import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("races")
class SharedLockTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(50);

    private final OwnFolder folder = new OwnFolder();
    private final Regions regions = folder.regions();
    private final Regions others = folder.regions();
    private SharedArray mine;
    private SharedArray theirs;

    @BeforeEach
    void open() {
        mine = SharedArray.openOrCreate(regions, "a", Dtype.parse("<i8"), 4);
        theirs = SharedArray.open(others, "a");
    }

    @AfterEach
    void clearUp() {
        mine.close();
        theirs.close();
        others.close();
        regions.close();
        folder.close();
    }

    @Test
    void readersShareTheLockAndKeepWritersOut() {
        try (SharedLock.Hold one = mine.lock().readLock(PATIENCE);
                SharedLock.Hold other = theirs.lock().readLock(PATIENCE)) {
            assertThat(onAnotherThread(() -> mine.lock().tryWriteLock() == null))
                    .isTrue();
            assertThat(onAnotherThread(() -> theirs.lock().tryWriteLock() == null))
                    .isTrue();
            assertThat(one.wasAbandoned() || other.wasAbandoned()).isFalse();
        }
        try (SharedLock.Hold writer = theirs.lock().writeLock(PATIENCE)) {
            assertThat(mine.lock().tryReadLock()).isNull();
            assertThatThrownBy(() -> mine.lock().writeLock(SHORT))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("for=writing timeout=PT0.05S writerPid="
                            + ProcessHandle.current().pid());
            assertThat(writer.wasAbandoned()).isFalse();
        }
    }

    private static boolean onAnotherThread(BooleanSupplier asked) {
        return CompletableFuture.supplyAsync(asked::getAsBoolean).join();
    }

    @Test
    void takingTheLockTwiceIsRefused() {
        try (SharedLock.Hold hold = mine.lock().readLock(PATIENCE)) {
            assertThatThrownBy(() -> mine.lock().readLock(SHORT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this thread holds the lock already, for reading: name=a");
            assertThatThrownBy(() -> mine.lock().writeLock(SHORT)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(hold::markRepaired).isInstanceOf(IllegalStateException.class);
        }
        SharedLock.Hold hold = mine.lock().writeLock(PATIENCE);
        hold.close();
        hold.close();
        mine.lock().writeLock(SHORT).close();
    }

    @Test
    void aWriterIsNotStarvedByReadersThatTakeTurns() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        CountDownLatch reading = new CountDownLatch(4);
        CompletableFuture<?>[] readers = new CompletableFuture<?>[4];
        for (int i = 0; i < readers.length; i++) {
            SharedArray array = i % 2 == 0 ? mine : theirs;
            readers[i] = CompletableFuture.runAsync(() -> readOn(array, done, reading), this::onNewThread);
        }
        reading.await();
        for (int i = 0; i < 50; i++) {
            mine.lock().writeLock(PATIENCE).close();
        }
        done.set(true);

        assertThat(CompletableFuture.allOf(readers)).succeedsWithin(PATIENCE);
    }

    private static void readOn(SharedArray array, AtomicBoolean done, CountDownLatch reading) {
        while (!done.get()) {
            try (SharedLock.Hold hold = array.lock().readLock(PATIENCE)) {
                assertThat(hold.wasAbandoned()).isFalse();
                reading.countDown();
            }
        }
    }

    private void onNewThread(Runnable task) {
        new Thread(task, "lock-test").start();
    }

    @Test
    void writersOfTwoProcessesAndOfOneExcludeEachOther() {
        CompletableFuture<?>[] writers = new CompletableFuture<?>[4];
        for (int i = 0; i < writers.length; i++) {
            SharedArray array = i % 2 == 0 ? mine : theirs;
            writers[i] = CompletableFuture.runAsync(() -> countTo(array, 500), this::onNewThread);
        }

        assertThat(CompletableFuture.allOf(writers)).succeedsWithin(Duration.ofSeconds(60));
        assertThat(mine.getLong(0)).isEqualTo(2000);
    }

    private static void countTo(SharedArray array, int count) {
        for (int i = 0; i < count; i++) {
            SharedLock.Hold hold = array.lock().writeLock(PATIENCE);
            array.setLong(0, array.getLong(0) + 1);
            hold.close();
        }
    }

    @Test
    void interruptingEndsAWait() throws InterruptedException {
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        try (SharedLock.Hold hold = mine.lock().writeLock(PATIENCE)) {
            Thread waiter = new Thread(() -> {
                try {
                    theirs.lock().readLock(PATIENCE).close();
                } catch (LarderException e) {
                    ended.complete(e);
                }
            });
            waiter.start();
            waiter.interrupt();

            assertThat(ended)
                    .succeedsWithin(PATIENCE)
                    .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
                    .hasMessageContaining("interrupted while waiting: step=lock");
            waiter.join();
            assertThat(hold.wasAbandoned()).isFalse();
        }
    }

    @Test
    void closingTheArrayGivesItsLockUp() {
        SharedLock.Hold hold = mine.lock().writeLock(PATIENCE);
        mine.setLong(0, 1);
        mine.close();

        try (SharedLock.Hold next = theirs.lock().writeLock(SHORT)) {
            assertThat(next.wasAbandoned()).isTrue();
        }
        hold.close();
        assertThatThrownBy(() -> mine.lock().readLock(SHORT)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aFreeLockIsTakenAtTheLatestWhenTimeIsUpThoughTheNextInLineIsStopped() {
        long somebody = 12345;
        assertThat(theirs.region().tryTakeSeat(ArrayDescriptor.LOCK_SEAT + 1)).isTrue();
        mine.region().memory().putLongVolatile(ArrayDescriptor.LOCK_OFFSET + LockDescriptor.WAITER_OFFSET, somebody);

        mine.lock().writeLock(SHORT).close();

        assertThat(theirs.region().tryShareSeat(ArrayDescriptor.LOCK_SEAT)).isTrue();
        assertThatThrownBy(() -> mine.lock().writeLock(SHORT)).hasMessageContaining("nextPid=" + somebody);
    }
}
