package dev.larder.bench.loader;

import dev.larder.bench.BenchStore;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.sample.Sampler;
import java.util.Iterator;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Prints as rows of JSON how long the step from one epoch to the next takes: from the end of the last batch of one to the first batch of the next.
 *
 * <p>Takes a dataset, its array of short rows, and how many seconds an epoch lasts at least: what is left of them
 * after the last batch stands for the steps of a trainer.
 */
public final class EpochStart {
    private static final int BATCH = 4096;
    private static final int EPOCHS = 5;

    private EpochStart() {}

    /** Measures {@code shuffle} and {@code permuted}. */
    public static void main(String[] arguments) {
        long leastNanos = TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[2]));
        try (Larder larder = Larder.connect(BenchStore.path());
                Dataset dataset = larder.dataset(arguments[0])) {
            BenchStore.touch(dataset.array(arguments[1]));
            for (Sampler sampler : new Sampler[] {Sampler.random(BenchStore.SEED), Sampler.permuted(BenchStore.SEED)}) {
                try (Loader loader = Loader.over(dataset)
                        .arrays(arguments[1])
                        .sampler(sampler)
                        .batch(BATCH)
                        .build()) {
                    measure(loader, sampler, leastNanos);
                }
            }
        }
    }

    private static void measure(Loader loader, Sampler sampler, long leastNanos) {
        for (long number = 0; number < EPOCHS; number++) {
            long begin = System.nanoTime();
            Iterator<Batch> batches = loader.epoch(number).iterator();
            Batch batch = batches.next();
            long first = System.nanoTime();
            while (batches.hasNext()) {
                batch = batches.next();
            }
            long last = System.nanoTime();
            for (long left = leastNanos; left > 0; left = leastNanos - (System.nanoTime() - first)) {
                LockSupport.parkNanos(left);
            }
            batch.close();
            System.out.printf(
                    Locale.ROOT,
                    "{\"order\": \"%s\", \"rows\": %d, \"epoch\": %d, \"startMs\": %.2f, \"batchesMs\": %.0f}%n",
                    sampler.description(),
                    loader.rows(),
                    number,
                    (first - begin) / 1e6,
                    (last - first) / 1e6);
        }
    }
}
