package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.internal.GroupDescriptor;
import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.RegionSpec;
import dev.larder.distributed.region.Regions;
import dev.larder.error.LarderException;
import dev.larder.internal.posix.RawMemory;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("races")
class ProcessGroupTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int CHUNK_BYTE_SIZE = 64 * 1024;

    private final OwnFolder regions = new OwnFolder();

    @AfterEach
    void removeRegions() {
        regions.close();
    }

    @Test
    void sumsAreTheSameBitsAtAllRanksAndInAllRuns() {
        List<Integer> hashes = new ArrayList<>();
        for (int run = 0; run < 3; run++) {
            int chunkByteSize = 64 * (100 + 333 * run);
            try (Gang gang = Gang.of(regions.path(), "run-" + run, 4, groups -> groups.chunkByteSize(chunkByteSize))) {
                hashes.addAll(gang.run(group -> {
                    float[] data = new float[50_000];
                    SplittableRandom random = new SplittableRandom(group.rank());
                    for (int i = 0; i < data.length; i++) {
                        data[i] = (float) (random.nextDouble() * Math.pow(2, random.nextInt(40)));
                    }
                    LockSupport.parkNanos(random.nextInt(1_000_000)); // ranks come in any order
                    group.allReduce(Span.of(data), ReduceOp.SUM);
                    return Arrays.hashCode(data);
                }));
            }
        }

        assertThat(new HashSet<>(hashes)).hasSize(1);
    }

    @Test
    void manyRanksOnFewCoresComeThrough() {
        try (Gang gang = Gang.of(regions.path(), "crowd", 8)) {
            List<Long> sums = gang.run(group -> {
                long[] one = new long[1];
                long all = 0;
                for (int i = 0; i < 500; i++) {
                    one[0] = i * (group.rank() + 1L);
                    group.allReduce(Span.of(one), ReduceOp.SUM);
                    all += one[0];
                    group.barrier();
                }
                return all;
            });

            assertThat(new HashSet<>(sums)).containsExactly(36L * 499 * 250);
        }
    }

    @Test
    void noWakeUpIsLostWhereEveryWaitIsASleep() {
        int meetings = 1000;
        try (Gang gang = Gang.of(regions.path(), "asleep", 2, groups -> groups.mostSpinTurns(0))) {
            List<Duration> times = gang.run(group -> {
                group.barrier();
                long startNs = System.nanoTime();
                for (int i = 0; i < meetings; i++) {
                    group.barrier();
                }
                return Duration.ofNanos(System.nanoTime() - startNs);
            });

            // who misses a ring looks after 50 ms, which would be 50 s of 1000
            assertThat(times).allMatch(time -> time.toSeconds() < 15, times.toString());
        }
    }

    @Test
    void stepsGoOnAfterTheGreatestNumber() {
        RegionSpec spec =
                new RegionSpec("group.wrapped", GroupDescriptor.KIND, GroupDescriptor.byteSize(3, CHUNK_BYTE_SIZE));
        try (Gang gang = Gang.of(regions.path(), "wrapped", 3, groups -> groups.chunkByteSize(CHUNK_BYTE_SIZE));
                Regions maker = regions.regions();
                Region laidOut = maker.openOrCreate(spec, memory -> layOutNearTheEnd(memory, 3), PATIENCE)) {
            List<Long> sums = gang.run(ProcessGroupTest::sumOfManyCalls);

            assertThat(laidOut.memory().getInt(GroupDescriptor.line(0))).isNegative();
            assertThat(sums).containsOnly(6L * 99 * 50);
        }
    }

    private static void layOutNearTheEnd(SharedMemory memory, int worldSize) {
        memory.putInt(GroupDescriptor.WORLD_SIZE_OFFSET, worldSize);
        memory.putInt(GroupDescriptor.CHUNK_BYTE_SIZE_OFFSET, CHUNK_BYTE_SIZE);
        for (int rank = 0; rank < worldSize; rank++) {
            memory.putInt(GroupDescriptor.line(rank) + GroupDescriptor.PROGRESS_OFFSET, Integer.MAX_VALUE - 7);
        }
    }

    private static long sumOfManyCalls(ProcessGroup group) {
        long[] many = new long[10_000]; // more than a chunk
        Span last = Span.of(many).slice(many.length - 1L, 1);
        long all = 0;
        for (int i = 0; i < 100; i++) {
            Arrays.fill(many, i * (group.rank() + 1L));
            group.allReduce(i % 10 == 0 ? Span.of(many) : last, ReduceOp.SUM);
            all += many[many.length - 1];
        }
        return all;
    }

    @Test
    void aTimeoutMayBeAsLongAsADurationCanBe() {
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE);
        try (Gang gang = Gang.of(
                regions.path(), "for-ever", 2, groups -> groups.timeout(longest).joinTimeout(longest))) {
            assertThat(gang.run(group -> {
                        group.barrierAsync().await(longest);
                        group.barrier();
                        return "done";
                    }))
                    .containsOnly("done");
        }
    }

    @Test
    void waitingCostsNoProcessorTimeToSpeakOf() {
        CountDownLatch waited = new CountDownLatch(1);
        try (Gang gang = Gang.of(regions.path(), "idle", 2)) {
            List<Long> usedNs = gang.run(group -> {
                group.barrier();
                if (group.rank() == 1) {
                    assertThat(waited.await( // the time in which the other rank waits
                                    600, java.util.concurrent.TimeUnit.MILLISECONDS))
                            .isFalse();
                    group.barrier();
                    return 0L;
                }
                var threads = ManagementFactory.getThreadMXBean();
                long beforeNs = threads.getCurrentThreadCpuTime();
                group.barrier();
                return threads.getCurrentThreadCpuTime() - beforeNs;
            });

            assertThat(Duration.ofNanos(usedNs.get(0))).isLessThan(Duration.ofMillis(20)); // of 600
        }
    }

    @Test
    void worksAreDoneInTheOrderOfTheCallsAlsoBesideOthers() {
        try (Gang gang = Gang.of(regions.path(), "works", 3)) {
            List<String> results = gang.run(group -> {
                float[] one = {group.rank()};
                float[] other = {1};
                Work first = group.allReduceAsync(Span.of(one), ReduceOp.SUM);
                Work second = group.broadcastAsync(Span.of(one), 1);
                group.allReduce(Span.of(other), ReduceOp.SUM);
                assertThat(first.isDone()).isTrue();
                Work third = group.allReduceAsync(Span.of(one), ReduceOp.PROD);
                second.await(PATIENCE);
                third.await(PATIENCE);
                assertThat(third.exception()).isEmpty();
                return one[0] + " " + other[0];
            });

            assertThat(results).containsOnly("27.0 3.0");
        }
    }

    @Test
    void everyCallCanGoOnBesideItsCaller() {
        try (Gang gang = Gang.of(regions.path(), "beside", 2)) {
            List<List<Float>> results = gang.run(group -> {
                float[] part = {group.rank() + 1};
                float[] whole = new float[2];
                List<Work> works = List.of(
                        group.allGatherAsync(Span.of(part), Span.of(whole)),
                        group.reduceScatterAsync(Span.of(whole), Span.of(part), ReduceOp.SUM),
                        group.gatherAsync(Span.of(part), Span.of(whole), 0),
                        group.scatterAsync(Span.of(whole), Span.of(part), 0),
                        group.reduceAsync(Span.of(part), ReduceOp.SUM, 1),
                        group.barrierAsync());
                works.get(5).await(PATIENCE);
                return List.of(part[0], whole[0], whole[1]);
            });

            assertThat(results).containsExactly(List.of(2f, 2f, 4f), List.of(6f, 1f, 2f));
        }
    }

    @Test
    void aWaitForAWorkHasAnEndThatDoesNotEndTheWork() {
        CountDownLatch tried = new CountDownLatch(1);
        try (Gang gang = Gang.of(regions.path(), "patience", 2)) {
            gang.run(group -> {
                if (group.rank() == 1) {
                    tried.await();
                    group.barrier();
                    return "done";
                }
                Work work = group.barrierAsync();
                assertThatThrownBy(() -> work.await(Duration.ofMillis(50)))
                        .isInstanceOf(LarderException.class)
                        .hasMessageContaining("call=barrier");
                tried.countDown();
                work.await(PATIENCE);
                return "done";
            });
        }
    }

    @Test
    void aSubgroupHasItsRanksInTheOrderOfTheList() {
        try (Gang gang = Gang.of(regions.path(), "parent", 4)) {
            List<String> places = gang.run(group -> {
                Optional<ProcessGroup> pair = group.subgroup(3, 1);
                Optional<ProcessGroup> rest = group.subgroup(0, 2);
                assertThat(pair.isPresent()).isNotEqualTo(rest.isPresent());
                try (ProcessGroup mine = pair.or(() -> rest).orElseThrow()) {
                    int[] ranks = new int[2];
                    mine.allGather(Span.of(new int[] {group.rank()}), Span.of(ranks));
                    group.barrier();
                    return mine.rank() + " of " + Arrays.toString(ranks);
                }
            });

            assertThat(places).containsExactly("0 of [0, 2]", "1 of [3, 1]", "1 of [0, 2]", "0 of [3, 1]");
        }
    }

    @Test
    void memoryAtAnAddressIsReducedWhereItIs() {
        try (Gang gang = Gang.of(regions.path(), "address", 2)) {
            List<Long> results = gang.run(group -> {
                ByteBuffer buffer = ByteBuffer.allocateDirect(64).order(ByteOrder.nativeOrder());
                buffer.putLong(8, 20 + group.rank());
                long address = new UnsafeBuffer(buffer).addressOffset();
                group.allReduce(Span.at(ElementType.LONG, address + 8, 8, buffer), ReduceOp.SUM);
                assertThat(RawMemory.getLong(address + 16)).isZero();
                return buffer.getLong(8);
            });

            assertThat(results).containsOnly(41L);
        }
    }

    @Test
    void aGroupOfOneHasNobodyToWaitFor() {
        try (Gang gang = Gang.of(regions.path(), "alone", 1)) {
            assertThat(gang.run(group -> {
                        double[] data = {3, 4};
                        group.barrier();
                        group.allReduce(Span.of(data), ReduceOp.AVG);
                        group.close();
                        group.close();
                        return data[1];
                    }))
                    .containsExactly(4.0);
        }
    }
}
