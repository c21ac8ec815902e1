package dev.larder.bench.loader;

import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.loader.internal.transform.TransformTarget;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Makes normalized float32 pictures of stored bytes, cropped at random out of a border of 4 and flipped at random; an operation is
 * a batch of 256. {@code inputBytes} counts stored bytes.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class TransformBenchmark {
    private static final int BATCH = 256;
    private static final int PADDING = 4;
    private static final float[] MEANS = {0.49f, 0.48f, 0.44f};
    private static final float[] DEVIATIONS = {0.2f, 0.21f, 0.22f};

    /** How many stored bytes were read, per second. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.OPERATIONS)
    public static class Read {
        /** Stored bytes. */
        public long inputBytes;
    }

    /** Height, width and channels. */
    @Param({"28x28x1", "32x32x3"})
    public String shape;

    private int height;
    private int width;
    private int channels;
    private byte[] stored;
    private FloatBuffer floats;
    private TransformTarget output;
    private SampleTransform augment;
    private SampleTransform augmentPlanar;
    private SampleTransform normalize;
    private TransformScratch augmentScratch;
    private TransformScratch planarScratch;
    private TransformScratch normalizeScratch;
    private float[] means;
    private float[] inverses;
    private int[] parameters;
    private long epoch;

    /** Makes pictures, and checks that all ways give the same. */
    @Setup
    public void prepare() {
        int[] lengths =
                Arrays.stream(shape.split("x", -1)).mapToInt(Integer::parseInt).toArray();
        height = lengths[0];
        width = lengths[1];
        channels = lengths[2];
        means = Arrays.copyOf(MEANS, channels);
        inverses = new float[channels];
        for (int i = 0; i < channels; i++) {
            inverses[i] = 1 / DEVIATIONS[i];
        }
        Transform moved = new Transform().randomCrop(height, width, PADDING).randomFlip(0.5f);
        Transform numbers = new Transform().toFloat().normalize(means, Arrays.copyOf(DEVIATIONS, channels));
        augment = compile(moved.then(numbers));
        augmentPlanar = compile(moved.then(numbers).channelsFirst());
        normalize = compile(numbers);
        augmentScratch = augment.newScratch();
        planarScratch = augmentPlanar.newScratch();
        normalizeScratch = normalize.newScratch();
        parameters = new int[augment.parameterCount()];
        stored = new byte[BATCH * augment.storedByteSize()];
        new Random(1).nextBytes(stored);
        ByteBuffer memory =
                ByteBuffer.allocateDirect(BATCH * augment.rowByteSize()).order(ByteOrder.nativeOrder());
        floats = memory.asFloatBuffer();
        output = TransformTarget.of(memory);
        requireSame();
    }

    private SampleTransform compile(Transform transform) {
        return SampleTransform.compile(transform, Dtype.parse("|u1"), new long[] {height, width, channels});
    }

    private void requireSame() {
        run(augment, augmentScratch);
        float[] fused = new float[floats.capacity()];
        floats.get(0, fused);
        epoch--;
        plain();
        float[] plain = new float[floats.capacity()];
        floats.get(0, plain);
        if (!Arrays.equals(fused, plain)) {
            throw new IllegalStateException("the two ways differ");
        }
    }

    private void run(SampleTransform transform, TransformScratch scratch) {
        epoch++;
        for (int i = 0; i < BATCH; i++) {
            transform.apply(stored, i * transform.storedByteSize(), output, i, 1, epoch, i, scratch);
        }
    }

    private void plain() {
        epoch++;
        for (int i = 0; i < BATCH; i++) {
            augment.drawParameters(1, epoch, i, parameters);
            plainPicture(
                    i * height * width * channels, parameters[0] - PADDING, parameters[1] - PADDING, parameters[2]);
        }
    }

    private void plainPicture(int first, int top, int left, int flipped) {
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int fromY = y + top;
                int fromX = left + (flipped == 0 ? x : width - 1 - x);
                boolean inside = fromY >= 0 && fromY < height && fromX >= 0 && fromX < width;
                for (int c = 0; c < channels; c++) {
                    int value = inside ? stored[first + (fromY * width + fromX) * channels + c] & 0xff : 0;
                    floats.put(first + (y * width + x) * channels + c, (value / 255f - means[c]) * inverses[c]);
                }
            }
        }
    }

    /** Larder: crop, flip and normalize in one go. */
    @Benchmark
    public FloatBuffer larder(Read read) {
        run(augment, augmentScratch);
        read.inputBytes += stored.length;
        return floats;
    }

    /** The same, with channels first in the result. */
    @Benchmark
    public FloatBuffer larderChannelsFirst(Read read) {
        run(augmentPlanar, planarScratch);
        read.inputBytes += stored.length;
        return floats;
    }

    /** Larder: only normalize. */
    @Benchmark
    public FloatBuffer larderNormalize(Read read) {
        run(normalize, normalizeScratch);
        read.inputBytes += stored.length;
        return floats;
    }

    /** A loop over pixels, as one writes it. */
    @Benchmark
    public FloatBuffer pixelLoop(Read read) {
        plain();
        read.inputBytes += stored.length;
        return floats;
    }
}
