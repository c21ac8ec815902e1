package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.distributed.internal.RankLayout;
import dev.larder.testing.Rounds;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares collectives over several nodes with loops over single elements, in the order of sums that the documents name. */
@Tag("races")
class NodesModelTest {
    private static final int CHUNK_BYTE_SIZE = 8 * 1024;
    private static final int WINDOW_BYTE_SIZE = 16 * 1024;
    private static final int[] LENGTHS = {0, 1, 33, 2048, 9000};
    private static final List<ElementType> TYPES = List.of(ElementType.values());
    private static final List<ReduceOp> OPS = List.of(ReduceOp.values());
    private static final Rounds ROUNDS = Rounds.of("calls over nodes", 16);

    @TempDir
    Path folder;

    /** Lets short spans have many chunks and windows. */
    private static ProcessGroups small(ProcessGroups groups) {
        return groups.chunkByteSize(CHUNK_BYTE_SIZE).windowByteSize(WINDOW_BYTE_SIZE);
    }

    static Stream<int[]> layouts() {
        return Stream.of(new int[] {2, 2}, new int[] {2, 1}, new int[] {1, 1, 1}, new int[] {3, 1, 2});
    }

    @ParameterizedTest
    @MethodSource("layouts")
    void allCallsOfAllTypesGiveWhatTheModelGives(int... sizes) {
        RankLayout layout = RankLayout.ofSizes(sizes);
        try (NodeGang gang = new NodeGang(folder, "model", NodesModelTest::small, sizes)) {
            gang.run(group -> {
                for (ElementType type : TYPES) {
                    for (int elements : LENGTHS) {
                        moveAndCompare(group, type, elements, elements % layout.worldSize());
                    }
                    for (ReduceOp op : OPS) {
                        reduceAndCompare(group, layout, type, op, LENGTHS[op.number() % LENGTHS.length]);
                    }
                }
                group.barrier();
                return "done";
            });
        }
    }

    @Test
    void aLongRowOfRandomCallsGivesWhatTheModelGives() {
        RankLayout layout = RankLayout.ofSizes(2, 1);
        try (NodeGang gang = new NodeGang(folder, "random", NodesModelTest::small, 2, 1)) {
            gang.run(group -> {
                SplittableRandom random = new SplittableRandom(ROUNDS.seed());
                for (int i = 0; i < ROUNDS.count(); i++) {
                    ElementType type = TYPES.get(random.nextInt(TYPES.size()));
                    int elements = random.nextInt(1 << random.nextInt(1, 15));
                    ReduceOp op = OPS.get(random.nextInt(OPS.size()));
                    if (random.nextBoolean()) {
                        moveAndCompare(group, type, elements, random.nextInt(3));
                    } else {
                        reduceAndCompare(group, layout, type, op, elements);
                    }
                }
                return "done";
            });
        }
    }

    private static void reduceAndCompare(
            ProcessGroup group, RankLayout layout, ElementType type, ReduceOp wanted, int elements) {
        ReduceOp op = wanted == ReduceOp.AVG && type.isInteger() ? ReduceOp.SUM : wanted;
        int worldSize = group.worldSize();
        int rank = group.rank();
        UnsafeBuffer[] inputs = inputs(type, elements * worldSize, worldSize, ROUNDS.seed() + elements + op.number());
        UnsafeBuffer expected = Elements.combine(type, op, inputs, layout);
        int byteSize = elements * type.byteSize();
        String what = layout + " " + type + " " + op + " " + elements + " " + ROUNDS;

        UnsafeBuffer part = Elements.random(type, elements, rank % 2 == 1, 0);
        group.reduceScatter(Span.of(type, inputs[rank]), Span.of(type, part), op);
        assertThat(part).as(what).isEqualTo(new UnsafeBuffer(expected, rank * byteSize, byteSize));

        byte[] before = new byte[inputs[rank].capacity()];
        inputs[rank].getBytes(0, before);
        UnsafeBuffer rooted = new UnsafeBuffer(before.clone());
        int root = elements % worldSize;
        group.reduce(Span.of(type, rooted), op, root);
        assertThat(rooted).as(what).isEqualTo(rank == root ? expected : new UnsafeBuffer(before));

        group.allReduceAsync(Span.of(type, inputs[rank]), op).await(Gang.PATIENCE);
        assertThat(inputs[rank]).as(what).isEqualTo(expected);
    }

    private static UnsafeBuffer[] inputs(ElementType type, int elements, int worldSize, long seed) {
        UnsafeBuffer[] inputs = new UnsafeBuffer[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            inputs[rank] = Elements.random(type, elements, rank % 2 == 1, seed * 31 + rank);
        }
        return inputs;
    }

    private static void moveAndCompare(ProcessGroup group, ElementType type, int elements, int root) {
        int rank = group.rank();
        UnsafeBuffer[] inputs = inputs(type, elements, group.worldSize(), ROUNDS.seed() + elements);
        UnsafeBuffer whole = Elements.random(type, elements * group.worldSize(), rank % 2 == 0, 1);
        UnsafeBuffer part = Elements.random(type, elements, rank % 2 == 0, 2);
        byte[] all = new byte[whole.capacity()];
        for (int i = 0; i < inputs.length; i++) {
            inputs[i].getBytes(0, all, i * part.capacity(), part.capacity());
        }
        String what = group + " " + type + " " + elements + " root=" + root;

        group.allGather(Span.of(type, inputs[rank]), Span.of(type, whole));
        assertThat(whole).as(what).isEqualTo(new UnsafeBuffer(all));
        group.scatter(rank == root ? Span.of(type, whole) : null, Span.of(type, part), root);
        assertThat(part).as(what).isEqualTo(inputs[rank]);
        whole.setMemory(0, whole.capacity(), (byte) 0);
        group.gather(Span.of(type, part), rank == root ? Span.of(type, whole) : null, root);
        assertThat(whole).as(what).isEqualTo(new UnsafeBuffer(rank == root ? all : new byte[all.length]));
        group.broadcast(Span.of(type, part), root);
        assertThat(part).as(what).isEqualTo(inputs[root]);
    }

    @Test
    void oneNodeToldOfTheLayoutGetsTheBitsOfSeveral() {
        RankLayout layout = RankLayout.ofSizes(2, 2);
        try (NodeGang two = new NodeGang(folder.resolve("two"), "layout", NodesModelTest::small, 2, 2);
                Gang one = Gang.of(
                        folder.resolve("one"),
                        "layout",
                        4,
                        groups -> groups.chunkByteSize(CHUNK_BYTE_SIZE).sumLayout(2, 2));
                Gang plain = Gang.of(folder.resolve("plain"), "layout", 4)) {
            Gang.Part<List<float[]>> part = group -> {
                reduceAndCompareSubgroup(group);
                float[] sum = floats(group.rank(), 20_000);
                group.allReduce(Span.of(sum), ReduceOp.AVG);
                float[] small = floats(group.rank(), 100);
                group.allReduce(Span.of(small), ReduceOp.SUM);
                return List.of(sum, small);
            };
            List<List<float[]>> ofTwo = two.run(part);
            List<List<float[]>> ofOne = one.run(part);

            assertThat(layout.fingerprint()).isNotEqualTo(RankLayout.ofSizes(4).fingerprint());
            for (int rank = 0; rank < 4; rank++) {
                for (int i = 0; i < 2; i++) {
                    assertThat(ofTwo.get(rank).get(i)).isEqualTo(ofOne.get(0).get(i));
                }
            }
            List<List<float[]>> inAnotherOrder = plain.run(part);
            assertThat(inAnotherOrder.get(0).get(0)).isNotEqualTo(ofOne.get(0).get(0));
        }
    }

    private static float[] floats(int rank, int count) {
        SplittableRandom random = new SplittableRandom(rank);
        float[] floats = new float[count];
        for (int i = 0; i < count; i++) {
            floats[i] = (float) ((random.nextDouble() - 0.5) * Math.pow(2, random.nextInt(-20, 12)));
        }
        return floats;
    }

    /** Ranks in another order than their nodes, ranks of one node, and nobody here. */
    private static void reduceAndCompareSubgroup(ProcessGroup group) {
        for (int[] ranks : new int[][] {{3, 1, 0}, {2, 3}, {1, 2}, {0}}) {
            int place = Arrays.stream(ranks).boxed().toList().indexOf(group.rank());
            try (ProcessGroup some = group.subgroup(ranks).orElse(null)) {
                assertThat(some == null).isEqualTo(place < 0);
                if (some != null) {
                    long[] own = {group.rank()};
                    long[] all = new long[ranks.length];
                    some.allGather(Span.of(own), Span.of(all));
                    some.allReduce(Span.of(own), ReduceOp.SUM);
                    assertThat(some.rank()).isEqualTo(place);
                    assertThat(all)
                            .isEqualTo(Arrays.stream(ranks).asLongStream().toArray());
                    assertThat(own[0]).isEqualTo(Arrays.stream(ranks).sum());
                }
            }
        }
    }

    @Test
    void leadersSendNoMoreThanARingOfNodesWould() {
        for (int[] sizes : new int[][] {{2, 2}, {1, 1, 1}}) {
            String key = "bytes-" + sizes.length;
            try (NodeGang gang = new NodeGang(folder.resolve(key), key, groups -> groups, sizes)) {
                List<Long> sent = gang.run(group -> {
                    long before = group.sentByteCount();
                    group.allReduce(Span.of(new float[1 << 20]), ReduceOp.SUM);
                    return group.sentByteCount() - before;
                });
                double bound = 1.05 * 2 * (sizes.length - 1) / sizes.length * (4 << 20);

                assertThat(sent).allSatisfy(bytes -> assertThat((double) bytes).isLessThanOrEqualTo(bound));
                assertThat(sent.get(0)).isGreaterThan((long) (bound / 1.06));
            }
        }
    }

    @Test
    void callsInSeveralThreadsAndAGroupThatClosesEndInTime() {
        try (NodeGang gang = new NodeGang(folder, "async", NodesModelTest::small, 1, 2)) {
            gang.run(group -> {
                float[] one = {1};
                Work first = group.allReduceAsync(Span.of(one), ReduceOp.SUM);
                Work second = group.barrierAsync();
                second.await(Duration.ofSeconds(20));
                assertThat(first.isDone()).isTrue();
                assertThat(one[0]).isEqualTo(3);
                return "done";
            });
        }
    }
}
