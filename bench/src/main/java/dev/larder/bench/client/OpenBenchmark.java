package dev.larder.bench.client;

import dev.larder.bench.BenchStore;
import dev.larder.bench.Measured;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Opens an array that is resident and reads one element of it. */
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class OpenBenchmark extends Measured {
    private static final String ARRAY = "rows-784";

    /** A connection that is kept. */
    @State(Scope.Benchmark)
    public static class Connection {
        private Larder larder;
        private Dataset dataset;

        /** Connects. */
        @Setup
        public void open() {
            larder = Larder.connect(BenchStore.path());
            dataset = larder.dataset(BenchStore.DATASET);
        }

        /** Closes everything. */
        @TearDown
        public void close() {
            larder.close();
        }
    }

    /** The first open of a JVM, class loading and all. */
    @Benchmark
    @BenchmarkMode(Mode.SingleShotTime)
    @Warmup(iterations = 0)
    @Measurement(iterations = 1)
    @Fork(7)
    public long first() {
        return connectAndRead();
    }

    /** Connect, lease, map, read, close, as in a new process, but without the class loading. */
    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    public long connectOpenRead() {
        return connectAndRead();
    }

    /** Lease, map, read, close over one connection. */
    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    public long openRead(Connection connection) {
        try (Dataset dataset = connection.larder.dataset(BenchStore.DATASET)) {
            return dataset.array(ARRAY).getLong(1, 2);
        }
    }

    /** An array of a dataset that is open. */
    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    public long repeated(Connection connection) {
        return connection.dataset.array(ARRAY).getLong(1, 2);
    }

    private static long connectAndRead() {
        try (Larder larder = Larder.connect(BenchStore.path());
                OwnedArrayView view = larder.open(BenchStore.DATASET + "/" + ARRAY)) {
            return view.getLong(1, 2);
        }
    }
}
