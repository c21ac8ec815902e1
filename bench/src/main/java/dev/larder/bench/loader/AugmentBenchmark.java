package dev.larder.bench.loader;

import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.RandomFlipLeftRight;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.modality.cv.util.NDImageUtils;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import dev.larder.bench.BenchStore;
import dev.larder.bench.Measured;
import dev.larder.bench.OpenArray;
import dev.larder.client.ArrayView;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.transform.Transform;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
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
 * Makes training batches of stored pictures: pads by 4, crops at random, flips at random, scales to floats, normalises. Shuffled, in
 * batches of 256; an operation is a sample.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class AugmentBenchmark extends Measured {
    private static final int SAMPLES = 50_000;
    private static final int BATCHES = (SAMPLES + BenchStore.BATCH - 1) / BenchStore.BATCH;
    private static final int PEER_SAMPLES = 2048;
    private static final int PADDING = 4;
    private static final float MEAN = 0.286f;
    private static final float DEVIATION = 0.353f;

    /** The pictures. */
    @State(Scope.Benchmark)
    public static class Pictures extends OpenArray {
        /** Their height, width and channels, if they have several. */
        @Param({"28x28", "32x32x3"})
        public String shape;

        @Override
        protected String array() {
            return "pictures-" + shape;
        }

        int height() {
            return (int) view.shape()[1];
        }

        int width() {
            return (int) view.shape()[2];
        }

        int channels() {
            return view.shape().length == 3 ? 1 : (int) view.shape()[3];
        }
    }

    /** A loader. */
    @State(Scope.Benchmark)
    public static class Loading {
        /** The number of threads that gather ahead: none, so that one core does all, or the loader's default. */
        @Param({"0", "default"})
        public String threads;

        /** The place of the channels: first, as DJL has them, or last, as they are stored. */
        @Param({"first", "last"})
        public String channels;

        private Loader loader;
        private long epoch;

        /** Starts it. */
        @Setup
        public void build(Pictures pictures) {
            Transform augmented = new Transform()
                    .randomCrop(pictures.height(), pictures.width(), PADDING)
                    .randomFlip(0.5f)
                    .toFloat()
                    .normalize(means(MEAN, pictures), means(DEVIATION, pictures));
            loader = BenchStore.threads(Loader.over(pictures.dataset).arrays(pictures.view.name()), threads)
                    .transform(pictures.view.name(), channels.equals("first") ? augmented.channelsFirst() : augmented)
                    .shuffle(BenchStore.SEED)
                    .batchSize(BenchStore.BATCH)
                    .build();
        }

        /** Ends it. */
        @TearDown
        public void close() {
            loader.close();
        }
    }

    /** DJL's pipeline over a copy of its own. */
    @State(Scope.Benchmark)
    public static class Peer {
        private NDManager manager;
        private RandomAccessDataset dataset;

        /** Copies the array. */
        @Setup
        public void copy(Pictures pictures) {
            manager = NDManager.newBaseManager();
            ArrayView view = pictures.view;
            Shape shape = new Shape(view.rows(), pictures.height(), pictures.width(), pictures.channels());
            NDArray images = manager.create(view.byteBuffer(0, view.rows()), shape, DataType.UINT8)
                    .duplicate();
            dataset = new PictureDataset(new PictureDataset.Builder(images)
                    .setSampling(BenchStore.BATCH, true)
                    .optLimit(PEER_SAMPLES)
                    .addTransform(new PaddedCrop(pictures.height(), pictures.width()))
                    .addTransform(new RandomFlipLeftRight())
                    .addTransform(new ToTensor())
                    .addTransform(normalizing(pictures)));
        }

        /** DJL's own transform takes pictures of three channels only. */
        private static ai.djl.translate.Transform normalizing(Pictures pictures) {
            return pictures.channels() == 3
                    ? new Normalize(means(MEAN, pictures), means(DEVIATION, pictures))
                    : picture -> picture.sub(MEAN).div(DEVIATION);
        }

        /** Closes everything. */
        @TearDown
        public void close() {
            manager.close();
        }
    }

    private static float[] means(float value, Pictures pictures) {
        float[] values = new float[pictures.channels()];
        Arrays.fill(values, value);
        return values;
    }

    /** Transforms in the loader. */
    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public long loader(Pictures pictures, Loading loading, ProcessorTime time) {
        long sum = 0;
        for (Batch batch : loading.loader.epoch(loading.epoch++)) {
            sum += batch.array(0).buffer().getByte(0);
        }
        time.batches += BATCHES;
        return sum;
    }

    /** Transforms of DJL, sample by sample. */
    @Benchmark
    @OperationsPerInvocation(PEER_SAMPLES)
    public long djlPipeline(Pictures pictures, Peer peer, ProcessorTime time) throws Exception {
        long sum = 0;
        for (ai.djl.training.dataset.Batch batch : peer.dataset.getData(peer.manager)) {
            sum += batch.getData().head().getShape().get(0);
            batch.close();
        }
        time.batches += PEER_SAMPLES / BenchStore.BATCH;
        return sum;
    }

    /** Pictures in one array of DJL, read one by one. */
    private static final class PictureDataset extends RandomAccessDataset {
        private final NDArray images;

        PictureDataset(Builder builder) {
            super(builder);
            this.images = builder.images;
        }

        @Override
        public Record get(NDManager manager, long index) {
            return new Record(new NDList(images.get(manager, index)), new NDList());
        }

        @Override
        protected long availableSize() {
            return images.getShape().get(0);
        }

        @Override
        public void prepare(ai.djl.util.Progress progress) {
            // the array is there
        }

        private static final class Builder extends RandomAccessDataset.BaseBuilder<Builder> {
            private final NDArray images;

            Builder(NDArray images) {
                this.images = images;
            }

            @Override
            protected Builder self() {
                return this;
            }
        }
    }

    /** A window at a random place of the padded picture. DJL has no transform for it. */
    private record PaddedCrop(int height, int width, SplittableRandom random) implements ai.djl.translate.Transform {
        PaddedCrop(int height, int width) {
            this(height, width, new SplittableRandom(BenchStore.SEED));
        }

        @Override
        public NDArray transform(NDArray picture) {
            NDArray padded = picture.pad(new Shape(0, 0, PADDING, PADDING, PADDING, PADDING), 0);
            return NDImageUtils.crop(
                    padded, random.nextInt(2 * PADDING + 1), random.nextInt(2 * PADDING + 1), width, height);
        }
    }
}
