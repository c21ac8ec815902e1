package dev.larder.loader.internal.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.device.KernelSource.Rows;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SampleKernelTest {
    private static final float[] MEANS = {0.49f, 0.48f, 0.44f};
    private static final float[] DEVIATIONS = {0.2f, 0.21f, 0.22f};
    private static final Transform CROP = new Transform().randomCrop(4, 6, 2).randomFlip(0.5f);
    private static final int ROWS = 20;

    static List<SampleKernel> kernels() {
        Rows shards = Rows.resident(7, 3);
        Rows staged = Rows.staged();
        return List.of(
                KernelCases.kernel(new Transform(), "|S3", shards, 5),
                KernelCases.kernel(CROP, "<c16", staged, 4, 6),
                KernelCases.kernel(CROP.toFloat().normalize(MEANS, DEVIATIONS), "|u1", shards, 5, 6, 3),
                KernelCases.kernel(CROP.toFloat().channelsFirst().toBfloat16(), "|u1", staged, 5, 6, 3),
                KernelCases.kernel(new Transform().toFloat().then(CROP).normalize(0.5f, 2), "|u1", shards, 5, 6),
                KernelCases.kernel(new Transform().toFloat().normalize(MEANS, DEVIATIONS), "|u1", staged, 3, 2, 3),
                KernelCases.kernel(new Transform().centerCrop(2, 3).flip().cast("<f8"), ">i4", shards, 5, 6),
                KernelCases.kernel(new Transform().oneHot(256).scale(2, 1).cast("<f2"), "|u1", shards, 3));
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void whatRunsInJavaGivesTheBytesOfTheTransform(SampleKernel kernel) {
        long seed = System.nanoTime();
        System.out.println("seed=" + seed);
        Random random = new Random(seed);
        byte[] array = new byte[ROWS * kernel.transform().storedByteSize()];
        random.nextBytes(array);
        int[] batch = random.ints(67, 0, ROWS).toArray();

        byte[] made = KernelCases.run(kernel, array, batch);

        assertThat(made).isEqualTo(KernelCases.applied(kernel.transform(), array, batch));
    }

    @Test
    void theControlSaysWhichRowAndWhereItsPixelsComeFrom() {
        SampleKernel kernel = KernelCases.kernel(
                new Transform().randomCrop(4, 6, 0).flip().randomFlip(1), "|u1", Rows.resident(1L << 40, 2), 4, 6);
        ByteBuffer control = ByteBuffer.allocateDirect(4 * 9 * 3).order(ByteOrder.nativeOrder());
        UnsafeBuffer writable = new UnsafeBuffer(control);

        kernel.writeControl(0x1_2345_6789L, 0, 0, 0, kernel.transform().newScratch(), writable, 1);

        int[] ints = new int[27];
        control.asIntBuffer().get(ints);
        assertThat(kernel.controlInts()).isEqualTo(9);
        assertThat(ints).startsWith(new int[9]).endsWith(new int[9]);
        assertThat(ints).containsSubsequence(0x2345_6789, 1, 0, 0, 4, 0, 0, 6, 0);
    }

    @Test
    void onlyWhatDiffersBetweenSamplesIsInTheControl() {
        Transform fixed = new Transform().flip().centerCrop(2, 2);

        assertThat(KernelCases.kernel(fixed, "|u1", Rows.staged(), 4, 6).controlInts())
                .isZero();
        assertThat(KernelCases.kernel(fixed, "|u1", Rows.resident(5, 1), 4, 6).controlInts())
                .isEqualTo(2);
        assertThat(KernelCases.kernel(CROP, "|u1", Rows.staged(), 4, 6).controlInts())
                .isEqualTo(7);
    }

    static List<SampleTransform> onlyForTheHost() {
        Dtype floats = Dtype.parse("<f4");
        Dtype bytes = Dtype.parse("|u1");
        long[] picture = {4, 6};
        float[] many = new float[5000];
        Arrays.fill(many, 1);
        return List.of(
                SampleTransform.compile(new Transform().map((values, shape, random) -> {}), floats, picture),
                SampleTransform.compile(CROP.toFloat().then(CROP), bytes, picture),
                SampleTransform.compile(new Transform().cast("|u1").oneHot(4), Dtype.parse("<i2"), new long[0]),
                SampleTransform.compile(new Transform().oneHot(4).flip(), bytes, new long[] {6}),
                SampleTransform.compile(new Transform().normalize(many, many), floats, new long[] {5000}),
                SampleTransform.compile(new Transform(), bytes, new long[] {0}));
    }

    @ParameterizedTest
    @MethodSource("onlyForTheHost")
    void whatIsNoKernelIsLeftToTheHost(SampleTransform transform) {
        assertThat(SampleKernel.of(transform, Rows.staged())).isEmpty();
    }

    @Test
    void labelsAreCheckedBeforeTheyGoToADevice() {
        SampleKernel kernel = KernelCases.kernel(new Transform().oneHot(5), ">i2", Rows.staged(), 2);
        UnsafeBuffer stored = new UnsafeBuffer(new byte[] {9, 9, 9, 0, 4, 0, 3, 0});

        assertThat(kernel.checksRows()).isTrue();
        kernel.check(stored, 3);
        assertThatThrownBy(() -> kernel.check(new UnsafeBuffer(new byte[] {0, 4, 0, 5}), 0))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageStartingWith("label is outside the classes: label=5 classes=5");
        assertThat(KernelCases.kernel(CROP, "|u1", Rows.staged(), 4, 6).checksRows())
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"|i1", "<i2", ">u2", ">i4", "<u4", "<i8", ">u8"})
    void theCheckReadsLabelsAsTheTransformDoes(String dtype) {
        SampleKernel kernel = KernelCases.kernel(new Transform().oneHot(100), dtype, Rows.staged());
        Random random = new Random(1);
        byte[] stored = new byte[kernel.transform().storedByteSize()];
        for (int i = 0; i < 1000; i++) {
            random.nextBytes(stored);
            stored[dtype.charAt(0) == '<' ? stored.length - 1 : 0] >>= random.nextInt(9);
            stored[random.nextInt(stored.length)] = 0;

            assertThat(fails(() -> kernel.check(new UnsafeBuffer(stored), 0)))
                    .isEqualTo(fails(() -> KernelCases.applied(kernel.transform(), stored, new int[1])));
        }
    }

    private static boolean fails(Runnable check) {
        try {
            check.run();
            return false;
        } catch (LarderException refused) {
            return true;
        }
    }

    @Test
    void aLabelThatIsNoClassMakesZerosAsOnADevice() {
        SampleKernel kernel = KernelCases.kernel(new Transform().oneHot(3), "|i1", Rows.staged());

        byte[] made = KernelCases.run(kernel, new byte[] {-1, 3, 2}, new int[] {0, 1, 2});

        assertThat(made).startsWith(new byte[32]).endsWith(0, 0, 0x80, 0x3f);
    }

    @Test
    void neitherControlNorChecksAllocateAnything() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        SampleKernel crop = KernelCases.kernel(CROP, "|u1", Rows.resident(9, 1), 4, 6);
        SampleKernel labels = KernelCases.kernel(new Transform().oneHot(5), "<i8", Rows.staged());
        TransformScratch scratch = crop.transform().newScratch();
        UnsafeBuffer memory = new UnsafeBuffer(ByteBuffer.allocateDirect(36));
        UnsafeBuffer label = new UnsafeBuffer(new byte[8]);
        long before = 0;

        for (int i = 0; i < 40_000; i++) {
            before = i == 30_000 ? threads.getCurrentThreadAllocatedBytes() : before;
            crop.writeControl(i, 1, 2, i, scratch, memory, 0);
            labels.check(label, 0);
        }

        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(5000);
    }

    @Test
    void vectorsAreAsWideAsRowsAllow() {
        assertThat(items(new Transform(), "|u1", 28, 28)).isEqualTo(784 / 16);
        assertThat(items(new Transform(), "|u1", 15)).isEqualTo(15);
        assertThat(items(new Transform().toFloat(), "|u1", 28, 28)).isEqualTo(784 / 4);
        assertThat(items(new Transform().toFloat().cast("<f2"), "|u1", 28, 28)).isEqualTo(784 / 8);
        assertThat(items(new Transform().toFloat().cast("<f2"), "|u1", 27, 28)).isEqualTo(756 / 4);
        assertThat(items(new Transform().toFloat().flip().channelsFirst(), "|u1", 4, 6, 3))
                .isEqualTo(72 / 2);
        assertThat(items(new Transform().flip(), "<c16", 4, 6)).isEqualTo(48 / 2);
    }

    private static int items(Transform transform, String dtype, long... shape) {
        return KernelCases.kernel(transform, dtype, Rows.staged(), shape).itemsPerSample();
    }

    @Test
    void onlyComputingWithDoublesNeedsThem() {
        Rows staged = Rows.staged();

        assertThat(KernelCases.kernel(new Transform().cast(">f8"), "<f8", staged, 2, 2)
                        .needsDoubles())
                .isFalse();
        assertThat(KernelCases.kernel(new Transform().flip(), "<f8", staged, 2, 2)
                        .needsDoubles())
                .isFalse();
        assertThat(KernelCases.kernel(new Transform().toFloat(), "<f8", staged, 2, 2)
                        .needsDoubles())
                .isTrue();
        assertThat(KernelCases.kernel(new Transform().cast("<f8"), "|i1", staged, 2, 2)
                        .needsDoubles())
                .isTrue();
    }

    @Test
    void theSameTransformHasTheSameText() {
        SampleKernel one = KernelCases.kernel(CROP.toFloat(), "|u1", Rows.resident(5, 2), 4, 6);
        SampleKernel other = KernelCases.kernel(CROP.toFloat(), "|u1", Rows.resident(5, 2), 4, 6);

        assertThat(one.text()).isEqualTo(other.text()).contains("__kernel void " + KernelSource.FUNCTION);
    }

    @Test
    void aByteIsDividedBy255WithTwoProducts() {
        for (int i = 0; i < 256; i++) {
            float upper = i * KernelFunctions.UPPER_255TH;
            float lower = i * KernelFunctions.LOWER_255TH;

            assertThat(upper + lower).isEqualTo(i / 255f);
            assertThat((double) upper).isEqualTo(i * (double) KernelFunctions.UPPER_255TH);
            assertThat(Math.fma((float) i, KernelFunctions.UPPER_255TH, lower)).isEqualTo(i / 255f);
            assertThat(Math.fma((float) i, KernelFunctions.LOWER_255TH, upper)).isEqualTo(i / 255f);
        }
    }

    @Test
    void shardsAreCounted() {
        assertThatThrownBy(() -> Rows.resident(5, 65)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Rows.resident(5, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Rows.resident(0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Rows.resident(5, 1).startingAt(16)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Rows.resident(5, 1).startingAt(-64)).isInstanceOf(IllegalArgumentException.class);
    }
}
