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
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
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

/**
 * Reads batches of 256 shuffled rows to a host buffer; an operation is a batch. Epochs of 60,000 rows of 784 floats have each an order of
 * their own; a million rows of 64 bytes have one that is prepared in advance, so that little but the ring is left.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class EpochBenchmark extends Measured {
    private static final String IMAGES = "images-f4";
    private static final int BATCHES = 235; // an epoch of the images
    private static final int EPOCHS = 8;

    /** The array, and the orders of its rows. */
    @State(Scope.Benchmark)
    public static class Ordered extends OpenArray {
        /** Its name. */
        @Param({IMAGES, "rows-64"})
        public String array;

        @SuppressWarnings("NullAway.Init") // opened() sets it
        private Sampler sampler;

        @Override
        protected String array() {
            return array;
        }

        @Override
        protected void opened() {
            Sampler random = Sampler.random(BenchStore.SEED);
            SampleOrder first = random.order(view.rows(), 0);
            sampler = array.equals(IMAGES) ? random : (count, number) -> first;
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
            loader = BenchStore.threads(Loader.over(rows.dataset).arrays(rows.array), threads)
                    .sampler(rows.sampler)
                    .batchSize(BenchStore.BATCH)
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
        private final List<long[]> batches = new ArrayList<>();
        private UnsafeBuffer buffer;
        private int next;

        /** Uses the loader's orders. */
        @Setup
        public void prepare(Ordered rows) {
            for (int epoch = 0; epoch < (rows.array.equals(IMAGES) ? EPOCHS : 1); epoch++) {
                batches.addAll(List.of(BenchStore.cut(rows.sampler.order(rows.view.rows(), epoch))));
            }
            buffer = BenchStore.buffer(BenchStore.BATCH * (int) rows.view.rowByteSize());
        }

        long[] next() {
            next = next + 1 == batches.size() ? 0 : next + 1;
            return batches.get(next);
        }
    }

    /** DJL's own dataset over a copy of its own. */
    @State(Scope.Benchmark)
    public static class Peer extends OpenArray {
        @SuppressWarnings("NullAway.Init") // opened() sets it
        private NDManager manager;

        @SuppressWarnings("NullAway.Init") // opened() sets it
        private ArrayDataset djl;

        @Override
        protected String array() {
            return IMAGES;
        }

        @Override
        protected void opened() {
            manager = NDManager.newBaseManager();
            long count = view.rows();
            ByteBuffer bytes = view.byteBuffer(0, count).order(ByteOrder.nativeOrder());
            NDArray images = manager.create(bytes, new Shape(count, 784), DataType.FLOAT32)
                    .duplicate();
            djl = new ArrayDataset.Builder()
                    .setData(images)
                    .setSampling(BenchStore.BATCH, true)
                    .build();
        }

        @Override
        public void close() {
            manager.close();
            super.close();
        }
    }

    /** Through the loader. */
    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public long loader(Loading loading, ProcessorTime time) {
        long sum = 0;
        for (int i = 0; i < BATCHES; i++) {
            sum += loading.next().array(0).buffer().getByte(0);
        }
        time.batches += BATCHES;
        return sum;
    }

    /** The copies alone. */
    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public long bareGather(Ordered rows, Prepared order, ProcessorTime time) {
        long sum = 0;
        for (int i = 0; i < BATCHES; i++) {
            rows.view.copyRows(order.next(), order.buffer, 0);
            sum += order.buffer.getByte(0);
        }
        time.batches += BATCHES;
        return sum;
    }

    /** A shuffled epoch of DJL. */
    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public long djlArrayDataset(Peer peer, ProcessorTime time) throws Exception {
        long sum = 0;
        for (ai.djl.training.dataset.Batch batch : peer.djl.getData(peer.manager)) {
            sum += batch.getData().head().getShape().get(0);
            batch.close();
        }
        time.batches += BATCHES;
        return sum;
    }
}
