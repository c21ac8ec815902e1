package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.device.KernelCase;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.transform.SampleKernel;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels as they are built for a loader. */
class KernelTest {
    private static final float[] MEANS = {0.49f, 0.48f, 0.44f};
    private static final float[] DEVIATIONS = {0.2f, 0.21f, 0.22f};
    private static final Transform AUGMENT =
            new Transform().randomCrop(32, 32, 4).randomFlip(0.5f).toFloat().normalize(MEANS, DEVIATIONS);
    private static final int ROWS = 50;

    private static KernelDevice device;

    @BeforeAll
    static void open() {
        device = new KernelDevice();
    }

    @AfterAll
    static void close() {
        device.close();
    }

    record Usual(Transform transform, String stored, List<Integer> shape, KernelSource.Rows rows) {}

    static List<Usual> usual() {
        KernelSource.Rows staged = KernelSource.Rows.staged();
        KernelSource.Rows whole = KernelSource.Rows.resident(ROWS, 1);
        List<Integer> grey = List.of(28, 28);
        List<Integer> colour = List.of(32, 32, 3);
        return List.of(
                new Usual(new Transform(), "|u1", grey, staged),
                new Usual(
                        new Transform(),
                        "|u1",
                        List.of(3, 5),
                        KernelSource.Rows.resident(7, 8).startingAt(192)),
                new Usual(new Transform(), "|S10", List.of(), whole),
                new Usual(new Transform().toFloat(), "|u1", grey, staged),
                new Usual(new Transform().toFloat().cast("<f2"), "|u1", grey, whole),
                new Usual(new Transform().toFloat().normalize(0.286f, 0.353f).toBfloat16(), "|u1", grey, staged),
                new Usual(AUGMENT.channelsFirst(), "|u1", colour, staged),
                new Usual(AUGMENT.channelsFirst().cast("<f2"), "|u1", colour, KernelSource.Rows.resident(13, 4)),
                new Usual(AUGMENT.toBfloat16(), "|u1", colour, whole),
                new Usual(
                        new Transform().toFloat().normalize(MEANS, DEVIATIONS).randomCrop(30, 29, 3),
                        "|u1",
                        colour,
                        staged),
                new Usual(new Transform().flip().channelsFirst(), "<c16", List.of(5, 6, 3), staged),
                new Usual(new Transform().centerCrop(3, 4).flip(), "|S12", List.of(5, 6), whole),
                new Usual(new Transform().cast("<f4"), "<i8", List.of(), whole));
    }

    @ParameterizedTest
    @MethodSource("usual")
    void usualTransformsGiveTheBytesOfTheHost(Usual usual) {
        Dtype stored = Dtype.parse(usual.stored);
        int elements = usual.shape.stream().reduce(1, (a, b) -> a * b);
        byte[] array = new byte[ROWS * elements * stored.itemSize()];
        new Random(5).nextBytes(array);
        int[] batch = new Random(6).ints(33, 0, ROWS).toArray();
        long[] shape = usual.shape.stream().mapToLong(length -> length).toArray();

        KernelCase each = new KernelCase(usual.transform, stored, shape, usual.rows, array, batch);

        assertThat(run(each)).isEqualTo(each.expected());
    }

    private static byte[] run(KernelCase each) {
        SampleKernel kernel = each.kernel();
        try (KernelDevice.Built built = device.build(kernel.text(), KernelSource.FUNCTION)) {
            int[] numbers = {each.samples()};
            ByteBuffer control = each.control();
            return built.run(
                    numbers, kernel.itemsPerSample(), each.samples(), control, each.targetBytes(), each.sources());
        }
    }

    @Test
    void everyByteIsDividedExactly() {
        byte[] array = new byte[256];
        IntStream.range(0, 256).forEach(i -> array[i] = (byte) i);
        KernelSource.Rows staged = KernelSource.Rows.staged();
        KernelCase each = new KernelCase(
                new Transform().toFloat(), Dtype.parse("|u1"), new long[] {256}, staged, array, new int[1]);

        ByteBuffer made = ByteBuffer.wrap(run(each)).order(ByteOrder.LITTLE_ENDIAN);

        assertThat(IntStream.range(0, 256).allMatch(i -> made.getFloat(4 * i) == i / 255f))
                .isTrue();
    }

    @Test
    void manyChannelsHaveMeansOfTheirOwn() {
        long[] shape = {784};
        float[] means = new float[784];
        float[] deviations = new float[784];
        IntStream.range(0, 784).forEach(i -> means[i] = i / 1000f);
        IntStream.range(0, 784).forEach(i -> deviations[i] = 1 + i / 500f);
        byte[] array = KernelCase.values(Dtype.parse("|u1"), 784 * 3, new Random(1));
        Transform transform = new Transform().toFloat().normalize(means, deviations);
        KernelSource.Rows staged = KernelSource.Rows.staged();
        KernelCase each = new KernelCase(transform, Dtype.parse("|u1"), shape, staged, array, new int[] {2, 0, 1});

        assertThat(run(each)).isEqualTo(each.expected());
    }

    @Test
    void aLabelThatIsNoClassMakesZeros() {
        byte[] array = {2, -1, 10, 9, 0, 127};
        KernelSource.Rows staged = KernelSource.Rows.staged();
        int[] batch = IntStream.range(0, 6).toArray();
        KernelCase each =
                new KernelCase(new Transform().oneHot(10), Dtype.parse("|i1"), new long[0], staged, array, batch);

        ByteBuffer made = ByteBuffer.wrap(run(each)).order(ByteOrder.LITTLE_ENDIAN);

        for (int i = 0; i < 60; i++) {
            assertThat(made.getFloat(4 * i)).isEqualTo(i % 10 == array[i / 10] ? 1 : 0);
        }
    }
}
