package dev.larder.bench.loader;

import dev.larder.bench.BenchStore;
import dev.larder.bench.Rows;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Subset;
import dev.larder.loader.transform.BytesFunction;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Measurements of loaders that are no single call, and so not for JMH. Prints rows of JSON; contenders take turns. */
final class LoaderRows {
    private static final long TENTH_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int TENTHS = 30;
    private static final int TENTHS_OF_A_SECOND = 10;
    private static final int TURNS = 3;
    private static final long USUAL_NS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long SLOW_NS = 20 * USUAL_NS;
    private static final int[][] UNEVEN_SHAPES = {{1, 8, 9}, {2, 8, 9}, {4, 16, 17}, {32, 8, 9}};

    private static volatile long spinNs;

    private final Larder larder;
    private final Dataset dataset;
    private final String[] words;

    private LoaderRows(Larder larder, Dataset dataset, String[] words) {
        this.larder = larder;
        this.dataset = dataset;
        this.words = words;
    }

    /** Arguments: a kind of measurement, and the arguments that its method names. */
    public static void main(String[] arguments) {
        try (Larder larder = Larder.connect(BenchStore.path());
                Dataset dataset = larder.dataset(BenchStore.DATASET)) {
            LoaderRows rows = new LoaderRows(larder, dataset, arguments);
            switch (arguments[0]) {
                case "first-second" -> rows.firstSecond();
                case "epoch-start" -> rows.epochStarts();
                case "windows" -> rows.windows();
                case "uneven" -> rows.uneven();
                case "kept" -> rows.kept();
                default -> throw new IllegalArgumentException("no such measurement: kind=" + arguments[0]);
            }
        }
    }

    private LoaderBuilder over(String array) {
        BenchStore.touch(dataset.array(array));
        return Loader.over(dataset).arrays(array).batchSize(BenchStore.BATCH);
    }

    private record FirstSecond(String array, String what, List<Long> batchesPerSecond, long later) {}

    /**
     * Counts the batches of each tenth of a second in a JVM that has just started. Arguments: an array, and {@code rows} as they are
     * stored or {@code floats} for rows that are scaled and normalised. All of the array is read first, so that compilation counts and
     * not the first touch of a page.
     */
    private void firstSecond() {
        LoaderBuilder builder = over(words[1]).shuffle(BenchStore.SEED).threads(1);
        if (words[2].equals("floats")) {
            builder.transform(words[1], new Transform().toFloat().normalize(0.286f, 0.353f));
        }
        try (Loader loader = builder.build()) {
            long[] counts = tenths(loader);
            List<Long> first = Arrays.stream(counts, 0, TENTHS_OF_A_SECOND)
                    .mapToObj(count -> TENTHS_OF_A_SECOND * count)
                    .toList();
            long later =
                    Arrays.stream(counts, TENTHS - TENTHS_OF_A_SECOND, TENTHS).sum();
            Rows.print(new FirstSecond(words[1], words[2], first, later));
        }
    }

    private static long[] tenths(Loader loader) {
        long[] counts = new long[TENTHS];
        long startNs = System.nanoTime();
        for (long epoch = 0; ; epoch++) {
            for (Batch batch : loader.epoch(epoch)) {
                long tenth = (System.nanoTime() - startNs) / TENTH_NS;
                if (tenth >= TENTHS) {
                    return counts;
                }
                counts[(int) tenth] += batch.isOpen() ? 1 : 0;
            }
        }
    }

    private record EpochStart(String order, long rows, long epoch, double startMs, double batchesMs) {}

    /**
     * Times the step from the last batch of an epoch to the first of the next. Arguments: an array of short rows, and the least seconds
     * of an epoch: the rest after the last batch stands for the steps of a trainer.
     */
    private void epochStarts() {
        long leastNs = TimeUnit.SECONDS.toNanos(Long.parseLong(words[2]));
        for (Sampler sampler : List.of(Sampler.random(BenchStore.SEED), Sampler.permuted(BenchStore.SEED))) {
            try (Loader loader = over(words[1]).sampler(sampler).batchSize(4096).build()) {
                for (long number = 0; number < 5; number++) {
                    long begin = System.nanoTime();
                    Iterator<Batch> batches = loader.epoch(number).iterator();
                    Batch batch = batches.next();
                    long first = System.nanoTime();
                    while (batches.hasNext()) {
                        batch = batches.next();
                    }
                    long last = System.nanoTime();
                    waitUntil(first + leastNs);
                    batch.close();
                    Rows.print(new EpochStart(
                            sampler.description(), loader.rows(), number, (first - begin) / 1e6, (last - first) / 1e6));
                }
            }
        }
    }

    private static void waitUntil(long endNs) {
        for (long left = endNs - System.nanoTime(); left > 0; left = endNs - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private record Speed(String what, double gigabytesPerSecond) {}

    /** Reads windows of tokens, and rows of the same length. Arguments: an array of tokens, an array of rows, and rounds. */
    private void windows() {
        BenchStore.touch(dataset.array(words[1]));
        BenchStore.touch(dataset.array(words[2]));
        Field window = Field.window(words[1], dataset.array(words[2]).shape()[1]);
        try (Loader rows = windowLoader(Field.rows(words[2]));
                Loader windows = windowLoader(window);
                Loader random = windowLoader(window.random())) {
            for (int round = -1; round < Integer.parseInt(words[3]); round++) { // the first one warms up
                readFor(rows, round, "rows");
                readFor(windows, round, "windows");
                readFor(random, round, "random windows");
            }
        }
    }

    private Loader windowLoader(Field field) {
        return Loader.over(dataset)
                .fields(field)
                .sampler(Sampler.permuted(BenchStore.SEED))
                .seed(BenchStore.SEED)
                .batchSize(32)
                .threads(0)
                .build();
    }

    private static void readFor(Loader loader, int round, String what) {
        long begin = System.nanoTime();
        long bytes = 0;
        for (long epoch = 0; System.nanoTime() - begin < 5 * TENTH_NS; epoch++) {
            for (Batch batch : loader.epoch(epoch)) {
                bytes += batch.array(0).byteSize();
            }
        }
        if (round >= 0) {
            Rows.print(new Speed(what, (double) bytes / (System.nanoTime() - begin)));
        }
    }

    private record Uneven(int batch, int threads, int slots, boolean inOrder, double samplesPerSecond) {}

    /**
     * Reads epochs with one sample in 50 that takes 20 times as long as the others, in the order of the batches and in any order.
     * Arguments: an array, and rounds. A slow sample waits, as for a file of a remote disk, and so does not depend on the processors.
     */
    private void uneven() {
        BytesFunction waiting = (sample, result, random) -> {
            waitUntil(System.nanoTime() + (random.nextInt(50) == 0 ? SLOW_NS : USUAL_NS));
            result.put(0, (byte) 1);
        };
        for (int round = 0; round < Integer.parseInt(words[2]); round++) {
            for (int[] shape : UNEVEN_SHAPES) {
                for (boolean inOrder : new boolean[] {true, false}) {
                    LoaderBuilder builder = Loader.over(dataset)
                            .arrays(words[1])
                            .transform(words[1], new Transform().map(Dtype.parse("|u1"), new long[0], waiting))
                            .sampler(Sampler.sequential().over(Subset.range(0, 3_000)))
                            .batchSize(shape[0])
                            .threads(shape[1])
                            .prefetch(shape[2]);
                    try (Loader loader = (inOrder ? builder : builder.inAnyOrder()).build()) {
                        double rate = 3_000 / epochSeconds(loader, 0);
                        Rows.print(new Uneven(shape[0], shape[1], shape[2], inOrder, rate));
                    }
                }
            }
        }
    }

    private static double epochSeconds(Loader loader, long epoch) {
        long start = System.nanoTime();
        long samples = 0;
        for (Batch batch : loader.epoch(epoch)) {
            samples += batch.size();
        }
        if (samples == 0) {
            throw new IllegalStateException("an epoch has no samples");
        }
        return (System.nanoTime() - start) / 1e9;
    }

    private record FirstEpoch(String what, long rows, long micros, double computing, double keeping) {}

    private record LaterEpochs(String what, String process, long rows, double checking, double plain, double kept) {}

    /**
     * Times epochs of rows that are computed once, next to epochs that compute them each time, and to plain rows of the same length.
     * Arguments: {@code first ROWS MICROSECONDS} for a first epoch over so many rows with a step that takes so long a row, before one
     * that computes the rest in no time; or {@code later} for a process that finds all rows computed by another.
     */
    private void kept() {
        BenchStore.touch(dataset.array("images-f4"));
        Sampler all = Sampler.random(BenchStore.SEED);
        if (words[1].equals("first")) {
            long rows = Long.parseLong(words[2]);
            long micros = Long.parseLong(words[3]);
            spinNs = TimeUnit.MICROSECONDS.toNanos(micros);
            Sampler some = all.over(Subset.range(0, rows));
            for (int turn = 0; turn < TURNS; turn++) {
                double computing = best(dataset, computed(""), some, 1);
                Rows.print(new FirstEpoch(
                        "first", rows, micros, computing, best(dataset, computed("turn-" + turn), some, 1)));
            }
            spinNs = 0;
            best(dataset, computed("all"), all, 1);
        }
        for (int turn = 0; turn < TURNS; turn++) {
            double checking;
            try (Dataset fresh = larder.dataset(BenchStore.DATASET)) { // which compares the checksums of rows first
                checking = best(fresh, computed("all"), all, 1);
            }
            double plain = best(dataset, Field.rows("images-f4"), all, 6);
            double kept = best(dataset, computed("all"), all, 6);
            Rows.print(new LaterEpochs(
                    "later", words[1], dataset.array("images-f4").rows(), checking, plain, kept));
        }
    }

    /** Copies a row after a while; keeps the result if there is a version. */
    private static Field computed(String version) {
        BytesFunction copy = (sample, result, random) -> {
            long start = System.nanoTime();
            while (System.nanoTime() - start < spinNs) {
                Thread.onSpinWait();
            }
            result.put(sample);
        };
        Field field =
                Field.rows("images-f4").transform(new Transform().map(Dtype.parse("<f4"), new long[] {784}, copy));
        return version.isEmpty() ? field : field.computed("bench", version);
    }

    /** Returns the seconds of the shortest epoch. */
    private static double best(Dataset dataset, Field field, Sampler sampler, int epochs) {
        double best = Double.MAX_VALUE;
        try (Loader loader = Loader.over(dataset)
                .fields(field)
                .sampler(sampler)
                .batchSize(BenchStore.BATCH)
                .build()) {
            for (long epoch = 0; epoch < epochs; epoch++) {
                best = Math.min(best, epochSeconds(loader, epoch));
            }
        }
        return best;
    }
}
