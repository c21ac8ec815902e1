package dev.larder.bench.loader;

import dev.larder.bench.BenchStore;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Subset;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Prints as rows of JSON how long an epoch takes where one sample in 50 takes 20 times as long as the others, in the batches' order and in any.
 * What takes so long is waiting, as for a file of a remote disk, so that it does not depend on the processors. Takes the dataset, an
 * array, and how many rounds there are; contenders take turns.
 */
public final class UnevenSamples {
    private static final int SAMPLES = 3_000;
    private static final long USUAL_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long SLOW_NANOS = 20 * USUAL_NANOS;

    private UnevenSamples() {}

    /** Measures both, with so many samples a batch, threads and slots as the shapes say. */
    public static void main(String[] arguments) {
        int[][] shapes = {{1, 8, 9}, {2, 8, 9}, {4, 16, 17}, {32, 8, 9}};
        try (Larder larder = Larder.connect(BenchStore.path());
                Dataset dataset = larder.dataset(arguments[0])) {
            for (int round = 0; round < Integer.parseInt(arguments[2]); round++) {
                for (int[] shape : shapes) {
                    for (boolean inOrder : new boolean[] {true, false}) {
                        measure(dataset, arguments[1], shape, inOrder);
                    }
                }
            }
        }
    }

    private static void measure(Dataset dataset, String array, int[] shape, boolean inOrder) {
        LoaderBuilder builder = Loader.over(dataset)
                .arrays(array)
                .transform(array, new Transform().map(Dtype.parse("|u1"), new long[0], (sample, result, random) -> {
                            long until = System.nanoTime() + (random.nextInt(50) == 0 ? SLOW_NANOS : USUAL_NANOS);
                            for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
                                LockSupport.parkNanos(left);
                            }
                            result.put(0, (byte) 1);
                        }))
                .sampler(Sampler.sequential().over(Subset.range(0, SAMPLES)))
                .batch(shape[0])
                .threads(shape[1])
                .prefetch(shape[2]);
        try (Loader loader = (inOrder ? builder : builder.inAnyOrder()).build()) {
            long begin = System.nanoTime();
            long samples = 0;
            for (Batch batch : loader.epoch(0)) {
                samples += batch.size();
            }
            System.out.printf(
                    Locale.ROOT,
                    "{\"batch\": %d, \"threads\": %d, \"slots\": %d, \"inOrder\": %b, \"samplesPerSecond\": %.0f}%n",
                    shape[0],
                    shape[1],
                    shape[2],
                    inOrder,
                    samples * 1e9 / (System.nanoTime() - begin));
        }
    }
}
