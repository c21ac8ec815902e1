package dev.larder.distributed.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.RegionSpec;
import dev.larder.distributed.region.Regions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The ring as it looks after a member died between two steps of it. */
class HandleRingTest {
    private static final int RECORDS = 4;
    private static final int CAPACITY = 3;
    private static final int ME = 1;
    private static final int OTHER = 2;

    private final OwnFolder folder = new OwnFolder();
    private final Regions regions = folder.regions();
    private Region region;
    private SharedMemory memory;
    private HandleRing ring;

    @BeforeEach
    void make() {
        long byteSize = QueueDescriptor.buffersOffset(RECORDS);
        region = regions.openOrCreate(new RegionSpec("ring", "test", byteSize), zeros -> {}, Duration.ofSeconds(20));
        memory = region.memory();
        ring = new HandleRing(memory, RECORDS, CAPACITY);
    }

    @AfterEach
    void clearUp() {
        region.close();
        regions.close();
        folder.close();
    }

    private int put() {
        int record = ring.claim(0, RECORDS, ME);
        assertThat(record).isNotNegative();
        assertThat(ring.put(record, QueueDescriptor.generation(ring.state(record))))
                .isTrue();
        return record;
    }

    private void giveBack(int record) {
        long generation = QueueDescriptor.generation(ring.state(record));
        assertThat(ring.change(record, ring.state(record), QueueDescriptor.state(QueueDescriptor.FREE, 0, generation)))
                .isTrue();
    }

    @Test
    void oneWhoPutAndDidNotSaySoIsCompletedByTheNext() {
        int first = put();
        memory.putLong(QueueDescriptor.TAIL_OFFSET, 0);
        int second = put();

        assertThat(ring.take(OTHER)).isEqualTo(first);
        assertThat(ring.take(OTHER)).isEqualTo(second);
        assertThat(ring.take(OTHER)).isNegative();
    }

    @Test
    void oneWhoTookAndDidNotSaySoIsCompletedByTheNext() {
        int first = put();
        int second = put();
        long taken = QueueDescriptor.state(QueueDescriptor.TAKEN, ME, 1);
        assertThat(ring.change(first, ring.state(first), taken)).isTrue(); // and died before clearing the entry

        assertThat(ring.take(OTHER)).isEqualTo(second);
        assertThat(ring.take(OTHER)).isNegative();
        memory.putLong(QueueDescriptor.HEAD_OFFSET, 0);
        giveBack(first);
        int third = put();
        assertThat(ring.take(OTHER)).isEqualTo(third);
    }

    @Test
    void entriesOfNoWorthFillNothing() {
        for (int turn = 0; turn < 20; turn++) {
            for (int i = 0; i < CAPACITY; i++) {
                giveBack(put()); // as where it was put while its dead holder was already given up
            }
        }
        int record = put();

        assertThat(ring.take(OTHER)).isEqualTo(record);
    }

    @Test
    void aPutRecordIsFoundInTheRingUntilItIsTaken() {
        int record = put();
        long[] states = ring.states();
        assertThat(ring.put(states).get(record)).isTrue();

        ring.take(OTHER);

        assertThat(ring.put(states).get(record)).isFalse();
    }

    @Test
    void lateCountersChangeNothingOverManyTurns() {
        long seed = System.nanoTime();
        System.err.println("seed " + seed);
        Random random = new Random(seed);
        ArrayDeque<Integer> model = new ArrayDeque<>();
        for (int i = 0; i < 50_000; i++) {
            if (random.nextBoolean() && model.size() < CAPACITY) {
                model.add(put());
                delay(QueueDescriptor.TAIL_OFFSET, random);
            } else {
                int taken = ring.take(OTHER);
                assertThat(taken).isEqualTo(model.isEmpty() ? -1 : model.remove());
                if (taken >= 0) {
                    giveBack(taken);
                    delay(QueueDescriptor.HEAD_OFFSET, random);
                }
            }
        }
    }

    /** As one leaves it that dies just before counting. */
    private void delay(int offset, Random random) {
        if (random.nextInt(4) == 0) {
            memory.putLong(offset, memory.getLong(offset) - 1);
        }
    }

    @Test
    void aRecordThatComesBackTakesThePlaceOfAnEntryOfNoWorthBehindOthers() {
        int first = put();
        for (int i = 1; i < RECORDS; i++) {
            int record = ring.claim(0, RECORDS, ME);
            ring.putAnyway(record, QueueDescriptor.generation(ring.state(record)));
            giveBack(record);
        }
        int back = ring.claim(0, RECORDS, ME);

        assertTimeoutPreemptively(
                Duration.ofSeconds(20), () -> ring.putAnyway(back, QueueDescriptor.generation(ring.state(back))));

        assertThat(ring.take(OTHER)).isEqualTo(first);
        assertThat(ring.take(OTHER)).isEqualTo(back);
        assertThat(ring.take(OTHER)).isNegative();
    }

    @Test
    void whatIsAboutToBePutAgainCounts() {
        QueueMembers members = new QueueMembers(region, ring, true);
        assertThat(members.isAnyOnTheWay()).isFalse();

        long returning = QueueDescriptor.state(QueueDescriptor.RETURNING, members.seat(), 1);
        assertThat(ring.change(2, ring.state(2), returning)).isTrue();

        assertThat(members.isAnyOnTheWay()).isTrue();
        assertThat(ring.isEmpty(true)).isFalse();
        assertThat(ring.isEmpty(false)).isTrue();
    }
}
