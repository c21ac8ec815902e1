package dev.larder.distributed.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Regions;
import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Processes;
import dev.larder.testing.Rounds;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What other processes do when one is killed, or stopped, with a lock in its hands or in the middle of publishing. */
class DyingHoldersTest {
    private static final Dtype LONG = Dtype.parse("<i8");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(10);

    private final OwnFolder folder = new OwnFolder();
    private final Regions regions = folder.regions();

    @AfterEach
    void clearUp() {
        regions.close();
        folder.close();
    }

    private ChildJvm start(String does) {
        ChildJvm child = launch(does);
        child.awaitLine("ready");
        return child;
    }

    private ChildJvm launch(String does) {
        return ChildJvm.start(SharedChild.class, folder.path().toString(), "a", does);
    }

    @Test
    void theNextWriterLearnsThatOneDiedWritingAndRepairs() {
        try (SharedArray array = SharedArray.openOrCreate(regions, "a", LONG, 8);
                ChildJvm child = start("hold-write")) {
            child.kill();

            try (SharedLock.Hold hold = array.lock().readLock(SOON)) {
                assertThat(hold.abandonedBy()).isEqualTo(child.pid());
                assertThatThrownBy(hold::markRepaired).isInstanceOf(IllegalStateException.class);
            }
            try (SharedLock.Hold hold = array.lock().writeLock(SOON)) {
                assertThat(hold.wasAbandoned()).isTrue();
                hold.markRepaired();
            }
            try (SharedLock.Hold hold = array.lock().writeLock(SOON)) {
                assertThat(hold.wasAbandoned()).isFalse();
            }
        }
    }

    @Test
    void aReaderThatDiesLeavesNothingToRepair() {
        try (SharedArray array = SharedArray.openOrCreate(regions, "a", LONG, 8);
                ChildJvm child = start("hold-read")) {
            assertThatThrownBy(() -> array.lock().writeLock(Duration.ofMillis(50)))
                    .hasMessageContaining("readerPids=[" + child.pid() + "]");
            child.kill();

            try (SharedLock.Hold hold = array.lock().writeLock(SOON)) {
                assertThat(hold.wasAbandoned()).isFalse();
            }
        }
    }

    @Test
    void whoWaitsForAStoppedHolderIsToldItsPid() {
        try (SharedArray array = SharedArray.openOrCreate(regions, "a", LONG, 8);
                ChildJvm child = start("hold-write")) {
            Processes.signal("STOP", child.pid());

            assertThatThrownBy(() -> array.lock().readLock(Duration.ofMillis(200)))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining(
                            "cannot take a lock in time: name=a for=reading timeout=PT0.2S writerPid=" + child.pid());
        }
    }

    @Test
    void killedWritersNeverKeepTheLockAndNeverHideWhatTheyBroke() {
        Rounds rounds = Rounds.of("killed writers", 2);
        try (SharedArray array = SharedArray.openOrCreate(regions, "a", LONG, 64)) {
            for (int round = 0; round < rounds.count(); round++) {
                try (ChildJvm child = launch("write");
                        ChildJvm other = launch("write")) {
                    child.awaitLine("ready");
                    other.awaitLine("ready");
                    LockSupport.parkNanos(rounds.momentNs(30)); // to kill it in any call
                    child.kill();
                    long before = requireWhole(array);
                    LockSupport.parkNanos(rounds.momentNs(30)); // the other goes on meanwhile
                    assertThat(other.isAlive()).as(other::errors).isTrue();
                    assertThat(requireWhole(array)).isGreaterThanOrEqualTo(before);
                }
            }
        }
    }

    private static long requireWhole(SharedArray array) {
        try (SharedLock.Hold hold = array.lock().writeLock(SOON)) {
            SharedChild.makeWhole(array, hold);
            long[] found = new long[64];
            array.read(0, found, 0, 64);
            assertThat(Arrays.stream(found).distinct().count()).isEqualTo(1);
            return found[0];
        }
    }

    @Test
    void killedPublishersNeverShowHalfAState() {
        Rounds rounds = Rounds.of("killed publishers", 2);
        int size = 20_000;
        SharedArraySpec spec = SharedArraySpec.of("a", LONG, size).withSpare();
        try (SharedArray array = SharedArray.openOrCreate(regions, spec, PATIENCE)) {
            for (int round = 0; round < rounds.count(); round++) {
                try (ChildJvm child = start("publish")) {
                    long endNs = System.nanoTime() + rounds.momentNs(30);
                    while (System.nanoTime() < endNs) {
                        requireWholeState(array, new long[size]);
                    }
                    child.kill();
                    long last = requireWholeState(array, new long[size]);
                    assertThat(array.publish(SharedChild::addOne, SOON)).isEqualTo(last + 1);
                    assertThat(requireWholeState(array, new long[size])).isEqualTo(last + 1);
                }
            }
        }
    }

    /** Each state is the number of its publication everywhere. */
    private static long requireWholeState(SharedArray array, long[] found) {
        long number = array.snapshot(found, PATIENCE);
        for (long element : found) {
            if (element != number) {
                assertThat(element).isEqualTo(number);
            }
        }
        return number;
    }
}
