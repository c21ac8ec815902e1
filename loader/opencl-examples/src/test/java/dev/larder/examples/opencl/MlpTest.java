package dev.larder.examples.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.cl_mem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MlpTest {
    private static final Mlp.Size SIZE = new Mlp.Size(7, 5, 3, 9);
    private static final Offset<Double> CLOSE = within(1e-4);

    private final Random random = new Random(3);
    private final OwnDevice device = OwnDevice.open("auto");
    private final Kernels kernels = Kernels.compile(device);
    private final List<cl_mem> labelMemory = new ArrayList<>();

    @AfterEach
    void close() {
        kernels.close();
        device.close();
        labelMemory.forEach(CL::clReleaseMemObject); // the context goes with the last of them
    }

    @ParameterizedTest
    @CsvSource({"1,1,1", "4,4,4", "33,7,65", "64,32,96", "5,130,31", "100,10,1"})
    void productsAreThoseOfPlainJavaInAnyLayout(int rows, int columns, int depth) {
        float[] a = drawn(rows * depth);
        float[] b = drawn(depth * columns);
        double[] expected = PlainMlp.multiply(a, b, rows, columns, depth);

        Matrix left = device.matrix(rows, depth, a);
        Matrix right = device.matrix(depth, columns, b);
        Matrix leftTurned =
                device.matrix(depth, rows, PlainMlp.transpose(a, rows, depth)).transposed();
        Matrix rightTurned = device.matrix(columns, depth, PlainMlp.transpose(b, depth, columns))
                .transposed();

        assertThat(product(left, right)).containsExactly(expected, CLOSE);
        assertThat(product(leftTurned, right)).containsExactly(expected, CLOSE);
        assertThat(product(left, rightTurned)).containsExactly(expected, CLOSE);
    }

    private double[] product(Matrix a, Matrix b) {
        Matrix product = device.zeros(a.rows(), b.columns());
        kernels.multiply(a, b, product);
        return PlainMlp.doubles(device.finish(product));
    }

    @Test
    void matricesThatDoNotFitAreRefused() {
        assertThatThrownBy(() -> kernels.multiply(device.zeros(2, 3), device.zeros(2, 3), device.zeros(2, 3)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** Also where fewer samples come than there is room for, as at the end of an epoch. */
    @ParameterizedTest
    @CsvSource({"9", "4", "1"})
    void gradientsAreWhatSmallChangesOfTheParametersDo(int samples) {
        Mlp network = new Mlp(device, kernels, SIZE, 1);
        float[] images = drawn(samples * SIZE.inputs());
        int[] labels = labels(samples);
        PlainMlp plain = new PlainMlp(SIZE, values(network), images, labels);

        network.learn(device.matrix(samples, SIZE.inputs(), images), memory(labels), 0.1f);

        for (int i = 0; i < 4; i++) {
            double[] gradient =
                    PlainMlp.doubles(device.finish(network.parameters().get(i).gradient()));
            assertThat(gradient).as("parameters " + i).containsExactly(plain.gradient(i), CLOSE);
        }
    }

    @Test
    void scoresAreTheLossesAndHitsOfThePlainNetwork() {
        Mlp network = new Mlp(device, kernels, SIZE, 1);
        float[] images = drawn(9 * SIZE.inputs());
        int[] labels = labels(9);
        PlainMlp plain = new PlainMlp(SIZE, values(network), images, labels);
        Matrix samples = device.matrix(9, SIZE.inputs(), images);
        cl_mem truth = memory(labels);

        try (Scores scores = new Scores(device)) {
            for (int step = 0; step < 200; step++) { // some pages
                network.measure(samples, truth);
                scores.add(network, 9);
            }
            Scores.Score score = scores.finish();

            assertThat(score.loss()).isCloseTo(plain.loss(), CLOSE);
            assertThat(score.accuracy()).isCloseTo(plain.accuracy(), CLOSE);
            assertThat(scores.finish().loss()).isNaN();
        }
    }

    @Test
    void stepsGoDownTheGradientAndKeepSomeOfTheirSpeed() {
        Mlp network = new Mlp(device, kernels, SIZE, 1);
        Matrix images = device.matrix(9, SIZE.inputs(), drawn(9 * SIZE.inputs()));
        cl_mem labels = memory(labels(9));
        Mlp.Parameters inner = network.parameters().get(0);
        float[] before = device.finish(inner.values());

        network.learn(images, labels, 0.5f);
        float[] first = device.finish(inner.gradient());
        network.learn(images, labels, 0.25f);
        float[] second = device.finish(inner.gradient());

        double[] expected = new double[before.length];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = before[i] - 0.5 * first[i] - 0.25 * (0.9 * first[i] + second[i]);
        }
        assertThat(PlainMlp.doubles(device.finish(inner.values()))).containsExactly(expected, CLOSE);
    }

    private double[][] values(Mlp network) {
        return network.parameters().stream()
                .map(each -> PlainMlp.doubles(device.finish(each.values())))
                .toArray(double[][]::new);
    }

    private float[] drawn(int count) {
        float[] drawn = new float[count];
        for (int i = 0; i < count; i++) {
            drawn[i] = random.nextFloat() - 0.5f;
        }
        return drawn;
    }

    private int[] labels(int count) {
        return random.ints(count, 0, SIZE.classes()).toArray();
    }

    private cl_mem memory(int[] labels) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(4 * labels.length).order(ByteOrder.nativeOrder());
        bytes.asIntBuffer().put(labels);
        long flags = CL.CL_MEM_READ_ONLY | CL.CL_MEM_COPY_HOST_PTR;
        cl_mem memory = CL.clCreateBuffer(device.context(), flags, bytes.capacity(), Pointer.to(bytes), null);
        labelMemory.add(memory);
        return memory;
    }
}
