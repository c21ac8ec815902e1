package dev.larder.bench.client;

import dev.larder.bench.BenchStore;
import dev.larder.bench.Measured;
import dev.larder.client.Dataset;
import dev.larder.client.IndexColumn;
import dev.larder.client.IntegerIndexWriter;
import dev.larder.client.Larder;
import dev.larder.client.TextIndexWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.collections.Long2LongHashMap;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Looks random keys up; an operation is one look-up. 10^5 keys stay in the caches; 10^7 do not, so nearly every look-up of them
 * misses. The look-ups use strings of their own; the peers benefit from the hash that a string caches.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class IndexBenchmark extends Measured {
    private static final int MANY = 1_000_000;
    private static final int WARM_QUESTIONS = 1 << 14;
    private static final int COLD_QUESTIONS = 1 << 20;

    /** An index, and the keys to look up. */
    @State(Scope.Benchmark)
    public static class Data {
        /** The number of keys. */
        @Param({"100000", "10000000"})
        public int keys;

        private String[] texts;
        private long[] integers;
        private Larder larder;
        private IndexColumn textIndex;
        private IndexColumn integerIndex;
        private int next;

        /** Builds the dataset if no fork before has, opens it, and draws the keys. */
        @Setup
        public void open() {
            larder = Larder.connect(BenchStore.path());
            Dataset dataset = larder.getOrCreate("index-" + keys, builder -> {
                TextIndexWriter text = builder.textIndex("text");
                IntegerIndexWriter integer = builder.integerIndex("integer");
                for (int i = 0; i < keys; i++) {
                    text.add(text(i), i);
                    integer.add(integer(i), i);
                }
            });
            textIndex = dataset.index("text");
            integerIndex = dataset.index("integer");
            int questions = keys < MANY ? WARM_QUESTIONS : COLD_QUESTIONS;
            texts = new String[questions];
            integers = new long[questions];
            SplittableRandom random = new SplittableRandom(BenchStore.SEED);
            for (int i = 0; i < questions; i++) {
                int key = random.nextInt(keys);
                texts[i] = new String(text(key).getBytes(StandardCharsets.US_ASCII), StandardCharsets.US_ASCII);
                integers[i] = integer(key);
            }
        }

        /** Closes everything. */
        @TearDown
        public void close() {
            larder.close();
        }

        static String text(int i) {
            return "scene" + (100_000_000 + i) + "_01";
        }

        static long integer(int i) {
            return i * 1_000_003L;
        }

        private int next() {
            next = (next + 1) & (texts.length - 1);
            return next;
        }
    }

    /** The map of texts that a trainer would have on its own heap. */
    @State(Scope.Benchmark)
    public static class JdkMap {
        private final Map<String, Long> rows = new HashMap<>();

        /** Fills it. */
        @Setup
        public void fill(Data data) {
            for (int i = 0; i < data.keys; i++) {
                rows.put(Data.text(i), (long) i);
            }
        }
    }

    /** Integers in Agrona's map of plain longs. */
    @State(Scope.Benchmark)
    public static class AgronaLongs {
        private final Long2LongHashMap rows = new Long2LongHashMap(-1);

        /** Fills it. */
        @Setup
        public void fill(Data data) {
            for (int i = 0; i < data.keys; i++) {
                rows.put(Data.integer(i), i);
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

    /** The JDK's map of objects, a copy for each process. */
    @Benchmark
    public @Nullable Long textHashMap(Data data, JdkMap map) {
        return map.rows.get(data.texts[data.next()]);
    }

    /** Agrona's map of plain longs. */
    @Benchmark
    public long integerAgrona(Data data, AgronaLongs map) {
        return map.rows.get(data.integers[data.next()]);
    }
}
