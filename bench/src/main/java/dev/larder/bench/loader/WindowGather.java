package dev.larder.bench.loader;

import dev.larder.bench.BenchStore;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.sample.Sampler;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Prints as rows of JSON how fast windows of tokens come through a loader, beside rows of the same tokens that are as long. Takes the dataset,
 * its array of tokens, that of rows, and how many rounds there are; contenders take turns.
 */
public final class WindowGather {
    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int BATCH = 32;

    private WindowGather() {}

    /** Measures rows, and windows in the order of a shuffle and at random. */
    public static void main(String[] arguments) {
        try (Larder larder = Larder.connect(BenchStore.path());
                Dataset dataset = larder.dataset(arguments[0])) {
            BenchStore.touch(dataset.array(arguments[1]));
            BenchStore.touch(dataset.array(arguments[2]));
            long length = dataset.array(arguments[2]).shape()[1];
            Field window = Field.window(arguments[1], length);
            try (Loader rows = loader(dataset, Field.rows(arguments[2]));
                    Loader windows = loader(dataset, window);
                    Loader random = loader(dataset, window.random())) {
                for (int round = -1; round < Integer.parseInt(arguments[3]); round++) {
                    measure("rows", rows, round);
                    measure("windows", windows, round);
                    measure("random windows", random, round);
                }
            }
        }
    }

    private static Loader loader(Dataset dataset, Field field) {
        return Loader.over(dataset)
                .fields(field)
                .sampler(Sampler.permuted(BenchStore.SEED))
                .seed(BenchStore.SEED)
                .batch(BATCH)
                .threads(0)
                .build();
    }

    /** Reads epochs for a while; the round before the first warms up. */
    private static void measure(String what, Loader loader, int round) {
        long begin = System.nanoTime();
        long bytes = 0;
        for (long epoch = 0; System.nanoTime() - begin < LEAST_NANOS; epoch++) {
            for (Batch batch : loader.epoch(epoch)) {
                bytes += batch.array(0).byteSize();
            }
        }
        long nanos = System.nanoTime() - begin;
        if (round >= 0) {
            System.out.printf(
                    Locale.ROOT, "{\"what\": \"%s\", \"gigabytesPerSecond\": %.3f}%n", what, (double) bytes / nanos);
        }
    }
}
