package dev.larder.bench.loader;

import dev.larder.bench.BenchStore;
import dev.larder.bench.Measured;
import dev.larder.bench.OpenArray;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.LoaderState;
import dev.larder.loader.sample.Sampler;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Times the first batch, with closing everything: from the connection on, and resuming in a long epoch. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class FirstBatchBenchmark extends Measured {
    private static final String ARRAY = "images-f4";
    private static final String LONG_ARRAY = "tokens";

    /** An epoch over 100 million samples that stopped at half of them. */
    @State(Scope.Benchmark)
    public static class Stopped extends OpenArray {
        /** Its shuffle: an order in memory, or a permutation that is calculated row by row. */
        @Param({"shuffle", "permuted"})
        public String order;

        @SuppressWarnings("NullAway.Init") // opened() sets it
        private Loader loader;

        @SuppressWarnings("NullAway.Init") // opened() sets it
        private String state;

        @Override
        protected String array() {
            return LONG_ARRAY;
        }

        @Override
        protected void opened() {
            loader = builder().build();
            LoaderState after = loader.epoch(1).iterator().next().stateAfter();
            long half = after.length() / 2 / BenchStore.BATCH * BenchStore.BATCH;
            state = new LoaderState(
                            after.dataset(),
                            after.digest(),
                            after.sampler(),
                            after.seed(),
                            after.epoch(),
                            half,
                            after.length())
                    .toJson();
        }

        @Override
        public void close() {
            loader.close();
            super.close();
        }

        LoaderBuilder builder() {
            return Loader.over(dataset)
                    .arrays(LONG_ARRAY)
                    .sampler(
                            order.equals("shuffle")
                                    ? Sampler.random(BenchStore.SEED)
                                    : Sampler.permuted(BenchStore.SEED))
                    .batchSize(BenchStore.BATCH);
        }
    }

    /** Connect, open, build a loader that shuffles 60,000 rows of 784 floats, wait for a batch of 256, close. */
    @Benchmark
    public long fromConnect() {
        try (Larder larder = Larder.connect(BenchStore.path());
                Dataset dataset = larder.dataset(BenchStore.DATASET);
                Loader loader = Loader.over(dataset)
                        .arrays(ARRAY)
                        .shuffle(BenchStore.SEED)
                        .batchSize(BenchStore.BATCH)
                        .build()) {
            return loader.epoch(0).iterator().next().row(7);
        }
    }

    /** Resume in the middle with the same loader. */
    @Benchmark
    public long resume(Stopped stopped) {
        LoaderState state = LoaderState.parse(stopped.state);
        return stopped.loader.resume(state).iterator().next().row(7);
    }

    /** Resume in the middle with a new loader, and close it. */
    @Benchmark
    public long buildAndResume(Stopped stopped) {
        try (Loader loader = stopped.builder().build()) {
            LoaderState state = LoaderState.parse(stopped.state);
            return loader.resume(state).iterator().next().row(7);
        }
    }
}
