package dev.larder.bench.distributed;

import dev.larder.bench.Rows;
import dev.larder.client.Larder;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.distributed.shared.SharedArraySpec;
import dev.larder.npy.Dtype;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

/**
 * Adds to a million floats of a shared array, in order and at random, next to an array of Java; takes its lock; publishes and reads whole
 * states, next to a plain copy. Prints a row of JSON for each: the best of some trials.
 */
final class SharedArrayBenchmark {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int COUNT = 1_000_000;
    private static final int TRIALS = 40;
    private static final int LOCKS = 10_000;

    private final float[] own = new float[COUNT];
    private final float[] deltas = new float[COUNT];
    private final float[] target = new float[COUNT];
    private final int[] places = new int[COUNT];
    private final SharedArray array;

    private SharedArrayBenchmark(SharedArray array) {
        this.array = array;
        Random random = new Random(42);
        for (int i = 0; i < COUNT; i++) {
            deltas[i] = random.nextFloat();
            places[i] = random.nextInt(COUNT);
        }
    }

    /** Argument: the store. */
    public static void main(String[] arguments) {
        SharedArraySpec spec =
                SharedArraySpec.of("bench-weights", Dtype.parse("<f4"), COUNT).withSpare();
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Regions regions = Regions.of(larder);
                SharedArray array = SharedArray.openOrCreate(regions, spec, PATIENCE)) {
            new SharedArrayBenchmark(array).run();
        }
    }

    private void run() {
        for (int round = 0; round < 2; round++) { // the first one warms up
            boolean shows = round > 0;
            measure(shows, "in order, Java's array", COUNT, this::addToOwn);
            measure(shows, "in order, get and set", COUNT, this::addOneByOne);
            measure(shows, "in order, addPlain", COUNT, () -> array.addPlain(0, deltas, 0, COUNT));
            measure(shows, "in order, addFloat by CAS", COUNT, this::addInOneStep);
            measure(shows, "at random, Java's array", COUNT, this::addToOwnAtRandom);
            measure(shows, "at random, get and set", COUNT, this::addAtRandom);
            measure(shows, "write lock and unlock", LOCKS, this::lockToWrite);
            measure(shows, "read lock and unlock", LOCKS, this::lockToRead);
            measure(shows, "copy of Java's array", COUNT, () -> System.arraycopy(own, 0, target, 0, COUNT));
            measure(shows, "publish", COUNT, () -> array.publish(state -> state.write(0, own, 0, COUNT), PATIENCE));
            measure(shows, "snapshot", COUNT, () -> array.snapshot(target, PATIENCE));
        }
    }

    private void addToOwn() {
        for (int i = 0; i < COUNT; i++) {
            own[i] += deltas[i];
        }
    }

    private void addOneByOne() {
        for (int i = 0; i < COUNT; i++) {
            array.setFloat(i, array.getFloat(i) + deltas[i]);
        }
    }

    private void addInOneStep() {
        for (int i = 0; i < COUNT; i++) {
            array.addFloat(i, deltas[i]);
        }
    }

    private void addToOwnAtRandom() {
        for (int i = 0; i < COUNT; i++) {
            own[places[i]] += deltas[i];
        }
    }

    private void addAtRandom() {
        for (int i = 0; i < COUNT; i++) {
            array.setFloat(places[i], array.getFloat(places[i]) + deltas[i]);
        }
    }

    private void lockToWrite() {
        for (int i = 0; i < LOCKS; i++) {
            array.lock().writeLock(PATIENCE).close();
        }
    }

    private void lockToRead() {
        for (int i = 0; i < LOCKS; i++) {
            array.lock().readLock(PATIENCE).close();
        }
    }

    private static void measure(boolean shows, String what, int count, Runnable step) {
        long bestNs = Long.MAX_VALUE;
        for (int trial = 0; trial < TRIALS; trial++) {
            long startNs = System.nanoTime();
            step.run();
            bestNs = Math.min(bestNs, System.nanoTime() - startNs);
        }
        if (shows) {
            Rows.print(new Row(what, count, (double) bestNs / count));
        }
    }

    private record Row(String what, int count, double nanosecondsForEach) {}
}
