package dev.larder.bench.loader;

import dev.larder.bench.BenchStore;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.transform.Transform;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Gathers batches in a JVM that has just started, and prints how many it made in each tenth of its first second and in the third
 * second, as one row of JSON. Reads all of the array first, so that compiling is what is measured, not the first touch of a page.
 */
public final class FirstSecond {
    private static final long TENTH_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int TENTHS = 30;
    private static final int SHOWN = 10;

    private FirstSecond() {}

    /** Takes the dataset, the array, and {@code rows} or {@code floats}: as they are stored, or scaled to floats and normalised. */
    public static void main(String[] arguments) {
        try (Larder larder = Larder.connect(BenchStore.path());
                Dataset dataset = larder.dataset(arguments[0])) {
            BenchStore.touch(dataset.array(arguments[1]));
            LoaderBuilder builder = Loader.over(dataset)
                    .arrays(arguments[1])
                    .shuffle(BenchStore.SEED)
                    .batch(BenchStore.BATCH)
                    .threads(1);
            if (arguments[2].equals("floats")) {
                builder.transform(arguments[1], new Transform().toFloat().normalize(0.286f, 0.353f));
            }
            try (Loader loader = builder.build()) {
                long[] counts = count(loader);
                System.out.printf(
                        Locale.ROOT,
                        "{\"array\": \"%s\", \"what\": \"%s\", \"batchesPerSecond\": [%s], \"later\": %d}%n",
                        arguments[1],
                        arguments[2],
                        Arrays.stream(counts, 0, SHOWN)
                                .mapToObj(count -> Long.toString(10 * count))
                                .collect(Collectors.joining(", ")),
                        Arrays.stream(counts, TENTHS - SHOWN, TENTHS).sum());
            }
        }
    }

    private static long[] count(Loader loader) {
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
}
