package dev.larder.loader.internal.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.larder.loader.transform.SampleRandom;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SampleTransformTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final Dtype BYTES = Dtype.parse("|u1");
    private static final Dtype FLOATS = Dtype.parse("<f4");
    private static final float[] MEANS = {0.49f, 0.48f, 0.44f};
    private static final float[] DEVIATIONS = {0.2f, 0.21f, 0.22f};
    private static final int SAMPLES = 64;

    static List<Transform> kinds() {
        Transform moved = new Transform().randomCrop(8, 8, 4).randomFlip(0.5f);
        return List.of(
                moved.toFloat().normalize(MEANS, DEVIATIONS).channelsFirst(),
                moved,
                moved.cast("<i4").cast("<f8"),
                new Transform().toFloat().randomCrop(8, 8, 2),
                new Transform().cast("<f4").map(SampleTransformTest::addNoise).randomFlip(0.5f),
                moved.map(FLOATS, new long[] {7}, SampleTransformTest::draw),
                new Transform().oneHot(256).flip());
    }

    private static void addNoise(float[] values, long[] shape, SampleRandom random) {
        for (int i = 0; i < values.length; i++) {
            values[i] += random.nextFloat() + shape[0];
        }
    }

    private static void draw(ByteBuffer sample, ByteBuffer result, SampleRandom random) {
        result.putFloat(sample.get(17)).putDouble(random.nextGaussian()).putInt(random.nextInt(1000));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void neitherOrderNorThreadsChangeAByte(Transform transform) {
        SampleTransform compiled = SampleTransform.compile(transform, BYTES, shapeFor(transform));
        List<Integer> samples = IntStream.range(0, SAMPLES).boxed().toList();
        List<Integer> shuffled = new ArrayList<>(samples);
        Collections.shuffle(shuffled, new Random(1));

        ByteBuffer inOrder = run(compiled, samples, false);

        assertThat(run(compiled, shuffled, false)).isEqualTo(inOrder);
        assertThat(run(compiled, shuffled, true)).isEqualTo(inOrder);
    }

    private static long[] shapeFor(Transform transform) {
        return transform.steps().get(0) instanceof Step.OneHot ? new long[] {6} : new long[] {8, 8, 3};
    }

    private static ByteBuffer run(SampleTransform compiled, List<Integer> samples, boolean parallel) {
        byte[] stored = new byte[SAMPLES * compiled.storedByteSize()];
        new Random(2).nextBytes(stored);
        ByteBuffer memory = ByteBuffer.allocateDirect(SAMPLES * compiled.rowByteSize());
        TransformTarget output = TransformTarget.of(memory);
        ThreadLocal<TransformScratch> scratch = ThreadLocal.withInitial(compiled::newScratch);
        (parallel ? samples.parallelStream() : samples.stream()).forEach(sample -> {
            int offset = sample * compiled.storedByteSize();
            compiled.apply(stored, offset, output, sample, 42, 1, sample, scratch.get());
        });
        return memory;
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void noSampleAllocatesAnything(Transform transform) {
        SampleTransform compiled = SampleTransform.compile(transform, BYTES, shapeFor(transform));
        byte[] stored = new byte[compiled.storedByteSize()];
        TransformTarget output = TransformTarget.of(ByteBuffer.allocateDirect(compiled.rowByteSize()));
        TransformScratch scratch = compiled.newScratch();
        repeat(compiled, stored, output, scratch, 30_000);

        long before = THREADS.getCurrentThreadAllocatedBytes();
        repeat(compiled, stored, output, scratch, 5000);

        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(5000);
    }

    private static void repeat(
            SampleTransform compiled, byte[] stored, TransformTarget output, TransformScratch scratch, int times) {
        for (int i = 0; i < times; i++) {
            compiled.apply(stored, 0, output, 0, 1, 2, i, scratch);
        }
    }

    @Test
    void seedEpochPositionAndPlaceOfTheStepDecideWhatIsDrawn() {
        SampleTransform crops = SampleTransform.compile(
                new Transform().randomCrop(1, 1, 1 << 20).randomCrop(1, 1, 1 << 20), BYTES, new long[] {1, 1});

        int[] drawn = crops.parameters(1, 2, 3);

        assertThat(crops.parameterCount()).isEqualTo(4);
        assertThat(crops.parameters(1, 2, 3)).isEqualTo(drawn);
        assertThat(List.of(drawn[0], drawn[1], drawn[2], drawn[3])).doesNotHaveDuplicates();
        assertThat(crops.parameters(2, 2, 3)).isNotEqualTo(drawn);
        assertThat(crops.parameters(1, 3, 3)).isNotEqualTo(drawn);
        assertThat(crops.parameters(1, 2, 4)).isNotEqualTo(drawn);
    }

    @Test
    void everyPlaceOfACropAndBothSidesAreEquallyLikely() {
        SampleTransform transform = SampleTransform.compile(
                new Transform().randomCrop(3, 4, 1).randomFlip(0.25f), BYTES, new long[] {4, 4});
        int[] corners = new int[4 * 3];
        int flipped = 0;

        for (int position = 0; position < 120_000; position++) {
            int[] drawn = transform.parameters(5, 0, position);
            corners[drawn[0] * 3 + drawn[1]]++;
            flipped += drawn[2];
        }

        assertThat(Arrays.stream(corners)).allMatch(count -> Math.abs(count - 10_000) < 500); // five deviations
        assertThat(flipped).isBetween(29_200, 30_800);
    }

    @Test
    void probabilitiesOfZeroAndOneAreCertain() {
        long[] shape = {1, 2};
        SampleTransform never = SampleTransform.compile(new Transform().randomFlip(0), BYTES, shape);
        SampleTransform always = SampleTransform.compile(new Transform().randomFlip(1), BYTES, shape);

        for (int position = 0; position < 1000; position++) {
            assertThat(never.parameters(1, 1, position)).containsExactly(0);
            assertThat(always.parameters(1, 1, position)).containsExactly(1);
        }
    }

    @Test
    void whatTheUsersCodeThrowsComesThroughUnchanged() {
        IllegalStateException mine = new IllegalStateException("mine");
        Transform transform = new Transform().map((values, shape, random) -> {
            throw mine;
        });
        SampleTransform compiled = SampleTransform.compile(transform, FLOATS, new long[] {1});

        assertThatThrownBy(() -> Samples.apply(compiled, new byte[4], 0, 0, 0, 0))
                .isSameAs(mine);
    }

    @Test
    void theUsersCodeGetsValuesShapeAndLaterStepsGetWhatItLeft() {
        Transform transform = new Transform()
                .toFloat()
                .channelsFirst()
                .map((values, shape, random) -> values[0] = shape[0] * 100 + shape[1] * 10 + shape[2] + values.length)
                .flip()
                .scale(2, 0);

        float[] values = Samples.floats(transform, "|u1", new long[] {1, 2, 1}, new byte[] {(byte) 255, 51});

        assertThat(values).containsExactly(0.4f, 2 * (112 + 2));
    }

    @Test
    void bytesAreMappedInTheOrderOfTheirTypes() {
        Transform transform = new Transform().map(Dtype.parse(">i4"), new long[] {2}, (sample, result, random) -> {
            assertThat(result.remaining()).isEqualTo(8);
            result.putInt(sample.getShort()).putInt(sample.remaining());
        });
        SampleTransform compiled = SampleTransform.compile(transform, Dtype.parse("<i2"), new long[] {3});

        byte[] bytes = Samples.apply(compiled, new byte[] {1, 2, 0, 0, 0, 0}, 0, 0, 0, 0);

        assertThat(bytes).containsExactly(0, 0, 2, 1, 0, 0, 0, 4);
        assertThat(compiled.rowShape()).containsExactly(2);
        assertThat(compiled.dtype()).isEqualTo(Dtype.parse(">i4"));
    }

    @Test
    void aTransformTellsWhatItNeedsAndGives() {
        SampleTransform compiled =
                SampleTransform.compile(new Transform().centerCrop(2, 2).cast("<f8"), BYTES, new long[] {3, 4});

        assertThat(compiled.storedByteSize()).isEqualTo(12);
        assertThat(compiled.rowByteSize()).isEqualTo(32);
        assertThat(compiled.rowShape()).containsExactly(2, 2);
    }

    @Test
    void stepsAreDataThatCanBeCompared() {
        Transform transform = new Transform().toFloat().normalize(0.1f, 0.2f).cast("<f2");

        assertThat(transform)
                .isEqualTo(new Transform()
                        .toFloat()
                        .then(new Transform().normalize(0.1f, 0.2f))
                        .cast("<f2"));
        assertThat(transform)
                .isNotEqualTo(new Transform().toFloat().normalize(0.1f, 0.3f).cast("<f2"));
        assertThat(transform).hasToString("Transform[toFloat(), normalize([0.1], [0.2]), cast(<f2)]");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2, Integer.MAX_VALUE})
    void nothingIsWrittenOutsideTheOutput(int row) {
        SampleTransform compiled = SampleTransform.compile(new Transform().toFloat(), BYTES, new long[] {4});
        TransformTarget output = TransformTarget.of(ByteBuffer.allocateDirect(2 * 16 + 15));
        TransformScratch scratch = compiled.newScratch();

        assertThatThrownBy(() -> compiled.apply(new byte[4], 0, output, row, 0, 0, 0, scratch))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> compiled.apply(new byte[4], 1, output, 0, 0, 0, 0, scratch))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void scratchMemoryOfAnotherTransformIsRefused() {
        SampleTransform one = SampleTransform.compile(new Transform().toFloat(), BYTES, new long[] {4});
        TransformScratch another = SampleTransform.compile(new Transform().flip(), BYTES, new long[] {2, 2})
                .newScratch();
        TransformTarget output = TransformTarget.of(ByteBuffer.allocate(16));

        assertThatThrownBy(() -> one.apply(new byte[4], 0, output, 0, 0, 0, 0, another))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
