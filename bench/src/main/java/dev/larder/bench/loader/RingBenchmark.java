package dev.larder.bench.loader;

import dev.larder.bench.BenchStore;
import dev.larder.bench.Measured;
import dev.larder.bench.OpenArray;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Reads batches of 256 rows of 64 bytes, in an order that is prepared in advance; an operation is a batch. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class RingBenchmark extends Measured {
    private static final String ARRAY = "rows-64";

    /** The array, and one order of its rows. */
    @State(Scope.Benchmark)
    public static class Ordered extends OpenArray {
        @SuppressWarnings("NullAway.Init") // opened() sets it
        private SampleOrder order;

        @Override
        protected String array() {
            return ARRAY;
        }

        @Override
        protected void opened() {
            order = Sampler.random(BenchStore.SEED).order(view.rows(), 0);
        }
    }

    /** A loader that reads one epoch after the other. */
    @State(Scope.Benchmark)
    public static class Loading {
        /** The number of threads that gather ahead: the loader's default, or none. */
        @Param({"default", "0"})
        public String threads;

        private Loader loader;
        private Iterator<Batch> batches = List.<Batch>of().iterator();
        private long epoch;

        /** Starts it. */
        @Setup
        public void build(Ordered rows) {
            loader = BenchStore.threads(Loader.over(rows.dataset).arrays(ARRAY), threads)
                    .sampler((count, number) -> rows.order)
                    .batch(BenchStore.BATCH)
                    .build();
        }

        /** Ends it. */
        @TearDown
        public void close() {
            loader.close();
        }

        Batch next() {
            if (!batches.hasNext()) {
                batches = loader.epoch(epoch++).iterator();
            }
            return batches.next();
        }
    }

    /** The same batches, prepared in advance, and one buffer. */
    @State(Scope.Benchmark)
    public static class Prepared {
        private long[][] batches;
        private UnsafeBuffer buffer;
        private int next;

        /** Cuts the order. */
        @Setup
        public void cut(Ordered rows) {
            batches = BenchStore.cut(rows.order);
            buffer = BenchStore.buffer(BenchStore.BATCH * (int) rows.view.rowByteSize());
        }

        long[] next() {
            next = next + 1 == batches.length ? 0 : next + 1;
            return batches[next];
        }
    }

    /** Through the loader. */
    @Benchmark
    public long loader(Ordered rows, Loading loading, ProcessorTime time) {
        time.batches++;
        return loading.next().array(0).buffer().getByte(0);
    }

    /** The copies alone. */
    @Benchmark
    public long bareGather(Ordered rows, Prepared order, ProcessorTime time) {
        time.batches++;
        rows.view.copyRows(order.next(), order.buffer, 0);
        return order.buffer.getByte(0);
    }
}
