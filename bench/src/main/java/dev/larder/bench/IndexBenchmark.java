package dev.larder.bench;

import dev.larder.client.Dataset;
import dev.larder.client.IndexColumn;
import dev.larder.client.Larder;
import dev.larder.column.IntegerIndexBuilder;
import dev.larder.column.TextIndexBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.Object2ObjectHashMap;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Looks random keys up; an operation is one look-up. 10^5 keys stay in the caches; 10^7 do not, so nearly every look-up of them
 * misses. The questions are strings of their own, whose hash nobody has computed yet where the peers would remember it.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class IndexBenchmark {
    private static final int QUESTIONS = 1 << 20;

    /** An index, and the keys that are asked for. */
    @State(Scope.Benchmark)
    public static class Data {
        /** How many keys there are. */
        @Param({"100000", "10000000"})
        public int keys;

        private final String[] texts = new String[QUESTIONS];
        private final long[] integers = new long[QUESTIONS];
        private Larder larder;
        private IndexColumn textIndex;
        private IndexColumn integerIndex;
        private int next;

        /** Builds the dataset if no fork before has, opens it, and draws the questions. */
        @Setup
        public void open() {
            larder = Larder.connect(BenchStore.path());
            Dataset dataset = larder.getOrCreate("index-" + keys, builder -> {
                try (TextIndexBuilder text = new TextIndexBuilder();
                        IntegerIndexBuilder integer = new IntegerIndexBuilder()) {
                    for (int i = 0; i < keys; i++) {
                        text.add(text(i), i);
                        integer.add(integer(i), i);
                    }
                    builder.add("text", text);
                    builder.add("integer", integer);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            textIndex = dataset.index("text");
            integerIndex = dataset.index("integer");
            SplittableRandom random = new SplittableRandom(BenchStore.SEED);
            for (int i = 0; i < QUESTIONS; i++) {
                int key = random.nextInt(keys);
                texts[i] = new String(text(key).getBytes(StandardCharsets.US_ASCII), StandardCharsets.US_ASCII);
                integers[i] = integer(key);
            }
        }

        /** Gives everything back. */
        @TearDown
        public void close() {
            larder.close();
        }

        static String text(int i) {
            return String.format("scene%08d_01", i);
        }

        static long integer(int i) {
            return i * 1_000_003L;
        }

        private int next() {
            next = (next + 1) & (QUESTIONS - 1);
            return next;
        }
    }

    /** What a trainer would hold in its own heap. */
    @State(Scope.Benchmark)
    public static class HeapMaps {
        private final Map<String, Long> hashMap = new HashMap<>();
        private final Map<String, Long> agronaMap = new Object2ObjectHashMap<>();
        private final Long2LongHashMap agronaLongs = new Long2LongHashMap(-1);

        /** Fills them. */
        @Setup
        public void fill(Data data) {
            for (int i = 0; i < data.keys; i++) {
                Long row = (long) i;
                String key = Data.text(i);
                hashMap.put(key, row);
                agronaMap.put(key, row);
                agronaLongs.put(Data.integer(i), i);
            }
        }
    }

    /** Larder: a text's row, from shared memory. */
    @Benchmark
    public long text(Data data) {
        return data.textIndex.find(data.texts[data.next()]);
    }

    /** Larder: an integer's row, from shared memory. */
    @Benchmark
    public long integer(Data data) {
        return data.integerIndex.find(data.integers[data.next()]);
    }

    /** The JDK's map of objects, in each process anew. */
    @Benchmark
    public long textHashMap(Data data, HeapMaps maps) {
        return maps.hashMap.get(data.texts[data.next()]);
    }

    /** Agrona's map of objects, open addressing. */
    @Benchmark
    public long textAgrona(Data data, HeapMaps maps) {
        return maps.agronaMap.get(data.texts[data.next()]);
    }

    /** Agrona's map of plain longs. */
    @Benchmark
    public long integerAgrona(Data data, HeapMaps maps) {
        return maps.agronaLongs.get(data.integers[data.next()]);
    }
}
