package dev.larder.bench.loader;

import dev.larder.bench.BenchStore;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Subset;
import dev.larder.loader.transform.BytesFunction;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Prints as rows of JSON how long epochs take whose rows are computed once, beside the same epochs that compute them each time, and
 * beside plain rows of the same length.
 *
 * <p>Takes {@code first ROWS MICROSECONDS} for a first epoch over so many rows, whose step takes so long a row, then one that computes
 * the rest in no time; or {@code later} for the epochs of a process that finds all rows computed by another.
 * What opens them anew compares their checksums in its first epoch.
 */
public final class KeptRows {
    private static final String ARRAY = "images-f4";
    private static final int LENGTH = 784;
    private static final int EPOCHS = 6;

    private static volatile long spinNs;

    private KeptRows() {}

    /** Measures first epochs and later ones, or later ones alone. */
    public static void main(String[] arguments) {
        try (Larder larder = Larder.connect(BenchStore.path());
                Dataset dataset = larder.dataset(BenchStore.DATASET)) {
            BenchStore.touch(dataset.array(ARRAY));
            if (arguments[0].equals("first")) {
                first(dataset, Long.parseLong(arguments[1]), Long.parseLong(arguments[2]));
            }
            later(larder, dataset, arguments[0]);
        }
    }

    private static void first(Dataset dataset, long rows, long micros) {
        spinNs = TimeUnit.MICROSECONDS.toNanos(micros);
        Sampler sampler = Sampler.random(BenchStore.SEED).over(Subset.range(0, rows));
        for (int turn = 0; turn < 3; turn++) {
            double plain = seconds(dataset, field(""), sampler, 1);
            double first = seconds(dataset, field("turn-" + turn), sampler, 1);
            System.out.printf(
                    Locale.ROOT,
                    "{\"what\": \"first\", \"rows\": %d, \"micros\": %d, \"computing\": %.4f, \"keeping\": %.4f}%n",
                    rows,
                    micros,
                    plain,
                    first);
        }
        spinNs = 0;
        seconds(dataset, field("all"), Sampler.random(BenchStore.SEED), 1);
    }

    private static void later(Larder larder, Dataset dataset, String when) {
        Sampler sampler = Sampler.random(BenchStore.SEED);
        Field plain = Field.rows(ARRAY);
        for (int turn = 0; turn < 3; turn++) {
            double checking;
            try (Dataset fresh = larder.dataset(BenchStore.DATASET)) { // which has compared no row yet
                checking = seconds(fresh, field("all"), sampler, 1);
            }
            System.out.printf(
                    Locale.ROOT,
                    "{\"what\": \"later\", \"process\": \"%s\", \"rows\": %d, \"checking\": %.4f, \"plain\": %.4f, \"kept\": %.4f}%n",
                    when,
                    dataset.array(ARRAY).rows(),
                    checking,
                    seconds(dataset, plain, sampler, EPOCHS),
                    seconds(dataset, field("all"), sampler, EPOCHS));
        }
    }

    /** Copies a row after a while; kept where a version is named. */
    private static Field field(String version) {
        BytesFunction copy = (sample, result, random) -> {
            long start = System.nanoTime();
            while (System.nanoTime() - start < spinNs) {
                Thread.onSpinWait();
            }
            result.put(sample);
        };
        Field field = Field.rows(ARRAY).transform(new Transform().map(Dtype.parse("<f4"), new long[] {LENGTH}, copy));
        return version.isEmpty() ? field : field.computed("bench", version);
    }

    /** Returns how long an epoch takes: the shortest of them. */
    private static double seconds(Dataset dataset, Field field, Sampler sampler, int epochs) {
        long best = Long.MAX_VALUE;
        try (Loader loader = Loader.over(dataset)
                .fields(field)
                .sampler(sampler)
                .batch(BenchStore.BATCH)
                .build()) {
            for (long epoch = 0; epoch < epochs; epoch++) {
                long start = System.nanoTime();
                long samples = 0;
                for (Batch batch : loader.epoch(epoch)) {
                    samples += batch.size();
                }
                best = samples == 0 ? best : Math.min(best, System.nanoTime() - start);
            }
        }
        return best / 1e9;
    }
}
