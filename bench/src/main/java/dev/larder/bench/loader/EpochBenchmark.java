package dev.larder.bench.loader;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.ArrayDataset;
import dev.larder.bench.BenchStore;
import dev.larder.bench.Measured;
import dev.larder.bench.OpenArray;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.sample.Sampler;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Reads shuffled epochs of 60,000 rows of 784 floats in batches of 256 to a host buffer; an operation is a batch. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class EpochBenchmark extends Measured {
    private static final String ARRAY = "images-f4";
    private static final int BATCHES = 235;
    private static final int EPOCHS = 8;

    /** The array. */
    @State(Scope.Benchmark)
    public static class Images extends OpenArray {
        private int epoch;

        @Override
        protected String array() {
            return ARRAY;
        }

        int nextEpoch() {
            epoch = (epoch + 1) % EPOCHS;
            return epoch;
        }
    }

    /** A loader. */
    @State(Scope.Benchmark)
    public static class Loading {
        /** The number of threads that gather ahead: the loader's default, or none. */
        @Param({"default", "0"})
        public String threads;

        private Loader loader;

        /** Starts it. */
        @Setup
        public void build(Images rows) {
            loader = BenchStore.threads(Loader.over(rows.dataset).arrays(ARRAY), threads)
                    .shuffle(BenchStore.SEED)
                    .batch(BenchStore.BATCH)
                    .build();
        }

        /** Ends it. */
        @TearDown
        public void close() {
            loader.close();
        }
    }

    /** The same batches, prepared in advance, and one buffer. */
    @State(Scope.Benchmark)
    public static class Prepared {
        private final long[][][] epochs = new long[EPOCHS][][];
        private UnsafeBuffer buffer;

        /** Uses the loader's sampler. */
        @Setup
        public void prepare(Images rows) {
            Sampler sampler = Sampler.random(BenchStore.SEED);
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                epochs[epoch] = BenchStore.cut(sampler.order(rows.view.rows(), epoch));
            }
            buffer = BenchStore.buffer(BenchStore.BATCH * (int) rows.view.rowByteSize());
        }
    }

    /** DJL's own dataset over a copy of its own. */
    @State(Scope.Benchmark)
    public static class Peer {
        private NDManager manager;
        private ArrayDataset dataset;

        /** Copies the array. */
        @Setup
        public void copy(Images rows) {
            manager = NDManager.newBaseManager();
            long count = rows.view.rows();
            ByteBuffer bytes = rows.view.byteBuffer(0, count).order(ByteOrder.nativeOrder());
            NDArray images = manager.create(bytes, new Shape(count, 784), DataType.FLOAT32)
                    .duplicate();
            dataset = new ArrayDataset.Builder()
                    .setData(images)
                    .setSampling(BenchStore.BATCH, true)
                    .build();
        }

        /** Closes everything. */
        @TearDown
        public void close() {
            manager.close();
        }
    }

    /** A shuffled epoch through the loader. */
    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public long loader(Images rows, Loading loading, ProcessorTime time) {
        long sum = 0;
        for (Batch batch : loading.loader.epoch(rows.nextEpoch())) {
            sum += batch.array(0).buffer().getByte(0);
        }
        time.batches += BATCHES;
        return sum;
    }

    /** The copies alone. */
    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public long bareGather(Images rows, Prepared order, ProcessorTime time) {
        long sum = 0;
        for (long[] batch : order.epochs[rows.nextEpoch()]) {
            rows.view.copyRows(batch, order.buffer, 0);
            sum += order.buffer.getByte(0);
        }
        time.batches += BATCHES;
        return sum;
    }

    /** A shuffled epoch of DJL. */
    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public long djlArrayDataset(Images rows, Peer peer, ProcessorTime time) throws Exception {
        long sum = 0;
        for (ai.djl.training.dataset.Batch batch : peer.dataset.getData(peer.manager)) {
            sum += batch.getData().head().getShape().get(0);
            batch.close();
        }
        time.batches += BATCHES;
        return sum;
    }
}
