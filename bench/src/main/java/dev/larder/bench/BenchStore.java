package dev.larder.bench;

import java.nio.file.Path;
import java.util.SplittableRandom;

/** The store and data that {@code ops/bench} prepared. */
final class BenchStore {
    static final String DATASET = "bench";
    static final int BATCH = 256;
    static final long SEED = 42;

    private static final String STORE_PROPERTY = "larder.bench.store";

    private BenchStore() {}

    /** Returns the store's folder, as the system property names it. */
    static Path path() {
        String store = System.getProperty(STORE_PROPERTY);
        if (store == null) {
            throw new IllegalStateException("no store is named: property=" + STORE_PROPERTY + "; run ops/bench");
        }
        return Path.of(store);
    }

    /** Draws batches of random rows, the same ones for every contender. */
    static long[][] batches(int count, long rows) {
        SplittableRandom random = new SplittableRandom(SEED);
        long[][] batches = new long[count][BATCH];
        for (long[] batch : batches) {
            for (int i = 0; i < batch.length; i++) {
                batch[i] = random.nextLong(rows);
            }
        }
        return batches;
    }
}
