package dev.larder.distributed.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.internal.memory.EventCount;
import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.RegionDescriptor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("races")
class RegionsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(20); // not when the sleep ends
    private static final RegionSpec SPEC = new RegionSpec("weights", "test", 8192);

    @TempDir
    Path folder;

    private Path regions;

    @BeforeEach
    void makePlace() {
        regions = folder.resolve("regions");
    }

    @Test
    void twoWhoOpenARegionShareItsBytes() {
        try (Regions one = FolderRegions.in(regions);
                Regions other = FolderRegions.in(regions);
                Region written = one.openOrCreate(SPEC, memory -> memory.putLong(0, 7), PATIENCE);
                Region read = other.open("weights", "test", PATIENCE)) {
            assertThat(read.memory().getLong(0)).isEqualTo(7);

            written.memory().putLongVolatile(8, 11);

            assertThat(read.memory().getLongVolatile(8)).isEqualTo(11);
            assertThat(read.id()).isEqualTo(written.id());
        }
    }

    @Test
    void onlyOneOfManyLaysARegionOut() {
        AtomicInteger laidOut = new AtomicInteger();
        CompletableFuture<?>[] openers = new CompletableFuture<?>[8];
        for (int i = 0; i < openers.length; i++) {
            openers[i] = CompletableFuture.runAsync(() -> {
                try (Regions own = FolderRegions.in(regions);
                        Region region = own.openOrCreate(SPEC, memory -> laidOut.incrementAndGet(), PATIENCE)) {
                    assertThat(region.memory().byteSize()).isEqualTo(8192);
                }
            });
        }

        assertThat(CompletableFuture.allOf(openers)).succeedsWithin(Duration.ofSeconds(30));

        assertThat(laidOut).hasValue(1);
    }

    @Test
    void whatAFailedMakerLeftIsLaidOutFromZeros() {
        try (Regions own = FolderRegions.in(regions)) {
            assertThatThrownBy(() -> own.openOrCreate(
                            SPEC,
                            memory -> {
                                memory.putLong(0, 99);
                                throw new IllegalStateException("stop");
                            },
                            PATIENCE))
                    .hasMessage("stop");

            try (Region region = own.openOrCreate(SPEC, memory -> memory.putLong(8, 1), PATIENCE)) {
                assertThat(region.memory().getLong(0)).isZero();
                assertThat(region.memory().getLong(8)).isEqualTo(1);
            }
        }
    }

    @Test
    void aRegionOfAnotherVersionIsRefused() throws IOException {
        try (Regions one = FolderRegions.in(regions);
                Regions other = FolderRegions.in(regions);
                Region made = one.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            Path file = made.row().file();
            flip(file, RegionDescriptor.FORMAT_VERSION_OFFSET);
            assertThatThrownBy(() -> other.open("weights", "test", PATIENCE))
                    .hasMessageStartingWith("the file is not the expected region: name=weights formatVersion=65 ");
            flip(file, RegionDescriptor.FORMAT_VERSION_OFFSET);

            try (Region again = other.open("weights", "test", PATIENCE)) {
                assertThat(again.row()).isEqualTo(made.row());
            }
        }
    }

    private static void flip(Path file, int offset) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(offset);
            int found = bytes.read();
            bytes.seek(offset);
            bytes.write(found ^ 0x40);
        }
    }

    @Test
    void aSeatHasOneHolderAtATime() {
        try (Regions one = FolderRegions.in(regions);
                Regions other = FolderRegions.in(regions);
                Region mine = one.openOrCreate(SPEC, memory -> {}, PATIENCE);
                Region same = one.openOrCreate(SPEC, memory -> {}, PATIENCE);
                Region theirs = other.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            assertThat(mine.tryTakeSeat(3)).isTrue();
            assertThat(theirs.tryTakeSeat(3)).isFalse();
            assertThat(same.tryTakeSeat(3)).isFalse();
            assertThat(theirs.isSeatTaken(3)).isTrue();
            assertThat(theirs.isSeatTaken(2)).isFalse();

            mine.leaveSeat(3);

            assertThat(theirs.tryTakeSeat(3)).isTrue();
        }
    }

    @Test
    void aSeatThatIsSharedKeepsThoseOutWhoWantItAlone() {
        try (Regions one = FolderRegions.in(regions);
                Regions other = FolderRegions.in(regions);
                Region mine = one.openOrCreate(SPEC, memory -> {}, PATIENCE);
                Region theirs = other.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            assertThat(mine.tryShareSeat(3)).isTrue();
            assertThat(mine.tryShareSeat(3)).isTrue();
            assertThat(theirs.tryShareSeat(3)).isTrue();
            assertThat(mine.tryTakeSeat(3)).isFalse();
            theirs.leaveSeat(3);
            mine.leaveSeat(3);
            assertThat(theirs.tryTakeSeat(3)).isFalse();

            mine.leaveSeat(3);

            assertThat(theirs.tryTakeSeat(3)).isTrue();
            assertThat(mine.tryShareSeat(3)).isFalse();
        }
    }

    @Test
    void aBellWakesWhoListensAndCostsNothingOtherwise() {
        try (Regions one = FolderRegions.in(regions);
                Region region = one.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            EventCount events = new EventCount(region.memory(), 64);
            events.ring();
            assertThat(region.memory().getInt(64)).isZero();
            int heard = events.listen();
            assertThat(events.listen()).isEqualTo(heard);
            CompletableFuture<Void> sleeper = CompletableFuture.runAsync(() -> events.sleep(heard, PATIENCE.toNanos()));

            events.ring();

            assertThat(sleeper).succeedsWithin(SOON);
            assertThat(region.memory().getInt(64)).isEqualTo(2);
        }
    }

    @Test
    void theEndOfALocksOwnerFreesItsSeats() {
        try (Regions other = FolderRegions.in(regions);
                Region theirs = other.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            Regions one = FolderRegions.in(regions);
            Region mine = one.openOrCreate(SPEC, memory -> {}, PATIENCE);
            mine.tryTakeSeat(0);

            one.close();

            assertThat(theirs.isSeatTaken(0)).isFalse();
            mine.close();
        }
    }

    @Test
    void whoComesTooLateReadsZerosAndHarmsNobody() {
        try (Regions one = FolderRegions.in(regions);
                Region kept = one.openOrCreate(SPEC, memory -> memory.putLong(0, 5), PATIENCE)) {
            Region closed = one.openOrCreate(SPEC, memory -> {}, PATIENCE);
            closed.close();

            closed.memory().putLong(0, 6);

            assertThat(kept.memory().getLong(0)).isEqualTo(5);
            assertThatThrownBy(() -> closed.tryTakeSeat(0)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aRegionOfAnotherKindOrSizeIsRefused() {
        try (Regions one = FolderRegions.in(regions);
                Region region = one.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            RegionSpec larger = new RegionSpec("weights", "test", 16384);

            assertThatThrownBy(() -> one.open("weights", "queue", PATIENCE))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("kind=test wantedKind=queue");
            assertThatThrownBy(() -> one.openOrCreate(larger, memory -> {}, PATIENCE))
                    .hasMessageContaining("bytes=8192 wantedBytes=16384");
            assertThat(region.toString()).contains("weights");
        }
    }

    @Test
    void waitingForARegionThatNobodyMakesEnds() {
        try (Regions one = FolderRegions.in(regions)) {
            assertThatThrownBy(() -> one.open("absent", "test", Duration.ofMillis(50)))
                    .hasMessageContaining("cannot open a region in time: name=absent reason=the region does not exist");
        }
    }

    @Test
    void aSleeperIsWokenByAnotherMapping() {
        try (Regions one = FolderRegions.in(regions);
                Region sleeper = one.openOrCreate(SPEC, memory -> {}, PATIENCE);
                Region waker = one.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            CompletableFuture<Void> slept = CompletableFuture.runAsync(() -> {
                while (sleeper.memory().getIntVolatile(64) == 0) {
                    sleeper.memory().sleepWhile(64, 0, PATIENCE.toNanos());
                }
            });
            Awaitility.await().until(() -> waker.memory().wake(64, 1) == 1);
            waker.memory().putIntVolatile(64, 1);
            waker.memory().wake(64, 1);

            assertThat(slept).succeedsWithin(SOON);
        }
    }

    @Test
    void locksOfAStoreThatWasRemovedAreNotTaken() throws IOException {
        try (Regions one = FolderRegions.in(regions)) {
            Files.delete(regions.resolve(RegionDescriptor.LOCKS_FILE));

            assertThatThrownBy(() -> one.openOrCreate(SPEC, memory -> {}, PATIENCE))
                    .hasMessageContaining("the store of these regions was removed");
        }
    }

    @Test
    void accessesBeyondTheEndAndUnalignedWordsAreRefused() {
        try (Regions one = FolderRegions.in(regions);
                Region region = one.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            SharedMemory memory = region.memory();

            assertThatThrownBy(() -> memory.getLong(8185)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> memory.getInt(-1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> memory.getAndAddLong(4, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThat(memory.compareAndSetInt(4, 0, 9)).isTrue();
            assertThat(memory.getAndAddInt(4, 1)).isEqualTo(9);
        }
    }

    @Test
    void closingRegionsClosesThoseThatAreOpen() {
        Regions own = FolderRegions.in(regions);
        Region region = own.openOrCreate(SPEC, memory -> {}, Duration.ofSeconds(Long.MAX_VALUE));
        region.memory().putLong(0, 7);
        assertThat(region.tryTakeSeat(3)).isTrue();

        own.close();

        assertThat(region.memory().getLong(0)).isZero();
        assertThatThrownBy(() -> region.tryTakeSeat(4)).isInstanceOf(IllegalStateException.class);
        try (Regions next = FolderRegions.in(regions);
                Region same = next.open("weights", "test", PATIENCE)) {
            assertThat(same.memory().getLong(0)).isEqualTo(7);
            assertThat(same.isSeatTaken(3)).isFalse();
        }
    }

    @Test
    void removingARegionLeavesTheNextOfItsName() {
        try (Regions own = FolderRegions.in(regions);
                Region first = own.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            own.remove(first);
            try (Region second = own.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
                own.remove(first);

                assertThat(own.list()).extracting(row -> row.id()).containsExactly(second.id());
            }
        }
    }
}
