package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.Rounds;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares collectives with loops over single elements, of all types and many lengths: around blocks, parts, chunks, and 0. */
@Tag("races")
class CollectivesModelTest {
    private static final int CHUNK_BYTE_SIZE = 24 * 1024;
    private static final int[] LENGTHS = {0, 1, 3, 31, 1000, 2048, 4097, 6144, 13_000};
    private static final List<ElementType> TYPES = List.of(ElementType.values());
    private static final Rounds ROUNDS = Rounds.of("random calls", 120);
    private static final long SEED = ROUNDS.seed();

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource
    void reductionsOfEveryTypeAreThoseOfTheModel(ElementType type) {
        for (int worldSize : new int[] {1, 2, 5}) {
            try (Gang gang = gang(type + "-" + worldSize, worldSize)) {
                gang.run(group -> {
                    for (ReduceOp op : ReduceOp.values()) {
                        if (op != ReduceOp.AVG || !type.isInteger()) {
                            for (int elements : LENGTHS) {
                                reduceAndCompare(group, type, op, elements);
                            }
                        }
                    }
                    return "done";
                });
            }
        }
    }

    private static void reduceAndCompare(ProcessGroup group, ElementType type, ReduceOp op, int elements) {
        int worldSize = group.worldSize();
        int rank = group.rank();
        UnsafeBuffer[] inputs = inputs(type, elements * worldSize, worldSize, SEED + elements + op.number());
        UnsafeBuffer expected = new UnsafeBuffer(new byte[elements * worldSize * type.byteSize()]);
        for (int i = 0; i < elements * worldSize; i++) {
            Elements.combine(type, op, inputs, i, expected);
        }
        int byteSize = elements * type.byteSize();
        String what = group.worldSize() + " " + type + " " + op + " " + elements + " seed=" + SEED;

        UnsafeBuffer part = Elements.random(type, elements, rank % 2 == 1, 0);
        group.reduceScatter(Span.of(type, inputs[rank]), Span.of(type, part), op);
        assertThat(part).as(what).isEqualTo(new UnsafeBuffer(expected, rank * byteSize, byteSize));

        UnsafeBuffer rooted = new UnsafeBuffer(copy(inputs[rank]));
        int root = elements % worldSize;
        group.reduce(Span.of(type, rooted), op, root);
        assertThat(rooted).as(what).isEqualTo(rank == root ? expected : inputs[rank]);

        group.allReduce(Span.of(type, inputs[rank]), op);
        assertThat(inputs[rank]).as(what).isEqualTo(expected);
    }

    private static byte[] copy(UnsafeBuffer buffer) {
        byte[] bytes = new byte[buffer.capacity()];
        buffer.getBytes(0, bytes);
        return bytes;
    }

    /** What all ranks have; odd ones on the heap. */
    private static UnsafeBuffer[] inputs(ElementType type, int elements, int worldSize, long seed) {
        UnsafeBuffer[] inputs = new UnsafeBuffer[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            inputs[rank] = Elements.random(type, elements, rank % 2 == 1, seed * 31 + rank);
        }
        return inputs;
    }

    private Gang gang(String key, int worldSize) {
        return Gang.of(folder, key, worldSize, groups -> groups.chunkByteSize(CHUNK_BYTE_SIZE));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void whatIsHandedAroundArrivesAsItWas(int worldSize) {
        try (Gang gang = gang("moved", worldSize)) {
            gang.run(group -> {
                for (ElementType type : ElementType.values()) {
                    for (int elements : LENGTHS) {
                        moveAndCompare(group, type, elements);
                    }
                }
                return "done";
            });
        }
    }

    private static void moveAndCompare(ProcessGroup group, ElementType type, int elements) {
        int rank = group.rank();
        int root = elements % group.worldSize();
        UnsafeBuffer[] inputs = inputs(type, elements, group.worldSize(), SEED + elements);
        UnsafeBuffer whole = Elements.random(type, elements * group.worldSize(), rank % 2 == 0, 1);
        UnsafeBuffer part = Elements.random(type, elements, rank % 2 == 0, 2);
        byte[] all = new byte[whole.capacity()];
        for (int i = 0; i < inputs.length; i++) {
            inputs[i].getBytes(0, all, i * part.capacity(), part.capacity());
        }

        group.allGather(Span.of(type, inputs[rank]), Span.of(type, whole));
        assertThat(whole).isEqualTo(new UnsafeBuffer(all));
        group.scatter(rank == root ? Span.of(type, whole) : null, Span.of(type, part), root);
        assertThat(part).isEqualTo(inputs[rank]);
        whole.setMemory(0, whole.capacity(), (byte) 0);
        group.gather(Span.of(type, part), rank == root ? Span.of(type, whole) : null, root);
        assertThat(whole).isEqualTo(new UnsafeBuffer(rank == root ? all : new byte[all.length]));
        group.broadcast(Span.of(type, part), root);
        assertThat(part).isEqualTo(inputs[root]);
    }

    @ParameterizedTest
    @ValueSource(ints = {13, 20_000})
    void zerosHaveSignsAndNanStaysNanInEveryCall(int elements) {
        float[][] floats = new float[3][elements];
        double[][] doubles = new double[3][elements];
        fillWithOdd(floats, doubles);
        try (Gang gang = gang("odd", 3)) {
            gang.run(group -> {
                for (ReduceOp op : List.of(ReduceOp.MIN, ReduceOp.MAX)) {
                    float[] floatResult = floats[group.rank()].clone();
                    double[] doubleResult = doubles[group.rank()].clone();
                    group.allReduce(Span.of(floatResult), op);
                    group.allReduce(Span.of(doubleResult), op);
                    assertThat(floatResult).isEqualTo(combined(op, floats));
                    assertThat(doubleResult).isEqualTo(combined(op, doubles));
                }
                return "done";
            });
        }
    }

    /** Brings all of them together with all others in the course of some hundred elements. */
    private static void fillWithOdd(float[][] floats, double[][] doubles) {
        float[] odd = {Float.NaN, -0.0f, 0.0f, Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY, 1, Float.MIN_VALUE};
        int every = 1;
        for (int rank = 0; rank < floats.length; rank++) {
            for (int i = 0; i < floats[rank].length; i++) {
                floats[rank][i] = odd[i / every % odd.length];
                doubles[rank][i] = floats[rank][i];
            }
            every *= odd.length;
        }
    }

    private static float[] combined(ReduceOp op, float[][] ranks) {
        float[] all = ranks[0].clone();
        for (int rank = 1; rank < ranks.length; rank++) {
            for (int i = 0; i < all.length; i++) {
                all[i] = op == ReduceOp.MIN ? Math.min(all[i], ranks[rank][i]) : Math.max(all[i], ranks[rank][i]);
            }
        }
        return all;
    }

    private static double[] combined(ReduceOp op, double[][] ranks) {
        double[] all = ranks[0].clone();
        for (int rank = 1; rank < ranks.length; rank++) {
            for (int i = 0; i < all.length; i++) {
                all[i] = op == ReduceOp.MIN ? Math.min(all[i], ranks[rank][i]) : Math.max(all[i], ranks[rank][i]);
            }
        }
        return all;
    }

    @Test
    void aLongRowOfRandomCallsGivesWhatTheModelGives() {
        try (Gang gang = gang("random", 3)) {
            gang.run(group -> {
                SplittableRandom random = new SplittableRandom(SEED);
                for (int i = 0; i < ROUNDS.count(); i++) {
                    ElementType type = TYPES.get(random.nextInt(TYPES.size()));
                    int elements = random.nextInt(1 << random.nextInt(1, 14));
                    if (random.nextBoolean()) {
                        moveAndCompare(group, type, elements);
                    } else {
                        reduceAndCompare(group, type, ReduceOp.SUM, elements);
                    }
                }
                return "done";
            });
        }
    }

    @Test
    void arraysAndPartsOfBuffersAreReducedInPlace() {
        try (Gang gang = gang("arrays", 2)) {
            List<List<Object>> results = gang.run(group -> {
                float[] floats = {1, 2, group.rank()};
                long[] longs = {group.rank(), Long.MAX_VALUE};
                UnsafeBuffer buffer = new UnsafeBuffer(new byte[20]);
                buffer.putInt(9, 5 + group.rank());
                group.allReduce(Span.of(floats), ReduceOp.AVG);
                group.allReduce(Span.of(longs).slice(0, 1), ReduceOp.MAX);
                group.allReduce(Span.of(ElementType.INT, buffer, 9, 4), ReduceOp.PROD);
                return List.of(floats, longs, buffer.getInt(9), buffer.getByte(8), buffer.getByte(13));
            });

            for (List<Object> result : results) {
                assertThat(result)
                        .usingRecursiveComparison()
                        .isEqualTo(new ArrayList<>(List.of(
                                new float[] {1, 2, 0.5f}, new long[] {1, Long.MAX_VALUE}, 30, (byte) 0, (byte) 0)));
            }
        }
    }
}
