package dev.larder.examples.opencl;

import java.util.List;
import java.util.Random;
import org.jocl.cl_mem;

/**
 * A classifier network with one hidden layer: ReLU, softmax, cross-entropy, stochastic gradient descent with momentum.
 * {@link Kernels} compute everything; no method waits for the device.
 */
final class Mlp {
    private static final float MOMENTUM = 0.9f;

    private final Kernels kernels;
    private final Parameters inner;
    private final Parameters innerBias;
    private final Parameters outer;
    private final Parameters outerBias;
    private final Matrix hidden;
    private final Matrix hiddenErrors;
    private final Matrix outputs;
    private final Matrix scores;

    /** The widths of the layers, and the maximum number of samples in a batch. */
    record Size(int inputs, int hidden, int classes, int batch) {}

    /** Parameters with their last gradient and their velocity. */
    record Parameters(Matrix values, Matrix gradient, Matrix velocity) {
        static Parameters of(OwnDevice device, Matrix values) {
            return new Parameters(
                    values,
                    device.zeros(values.rows(), values.columns()),
                    device.zeros(values.rows(), values.columns()));
        }
    }

    /** Creates a network with random weights. The device owns all memory. */
    Mlp(OwnDevice device, Kernels kernels, Size size, long seed) {
        this.kernels = kernels;
        Random random = new Random(seed);
        inner = Parameters.of(device, drawn(device, size.inputs(), size.hidden(), random));
        innerBias = Parameters.of(device, device.zeros(1, size.hidden()));
        outer = Parameters.of(device, drawn(device, size.hidden(), size.classes(), random));
        outerBias = Parameters.of(device, device.zeros(1, size.classes()));
        hidden = device.zeros(size.batch(), size.hidden());
        hiddenErrors = device.zeros(size.batch(), size.hidden());
        outputs = device.zeros(size.batch(), size.classes());
        scores = device.zeros(2, size.batch());
    }

    private static Matrix drawn(OwnDevice device, int inputs, int units, Random random) {
        float[] weights = new float[Math.multiplyExact(inputs, units)];
        double deviation = Math.sqrt(2.0 / inputs);
        for (int i = 0; i < weights.length; i++) {
            weights[i] = (float) (random.nextGaussian() * deviation);
        }
        return device.matrix(inputs, units, weights);
    }

    /**
     * Computes the outputs for samples and compares them with the labels.
     *
     * @param samples one row for each sample
     * @param labels one int32 for each sample
     */
    void measure(Matrix samples, cl_mem labels) {
        int count = samples.rows();
        Matrix active = hidden.firstRows(count);
        kernels.multiply(samples, inner.values(), active);
        kernels.run("activate", active.size(), active.columns(), innerBias.values(), active);
        kernels.multiply(active, outer.values(), outputs.firstRows(count));
        kernels.run("judge", count, outputs.columns(), outerBias.values(), labels, outputs, scores);
    }

    /** Measures the samples, then makes a gradient step. */
    void learn(Matrix samples, cl_mem labels, float rate) {
        measure(samples, labels);
        propagateBack(samples);
        for (Parameters each : parameters()) {
            kernels.run(
                    "descend", each.values().size(), rate, MOMENTUM, each.gradient(), each.velocity(), each.values());
        }
    }

    /** Computes the gradient of the mean loss of the samples measured last. */
    private void propagateBack(Matrix samples) {
        int count = samples.rows();
        Matrix active = hidden.firstRows(count);
        Matrix errors = outputs.firstRows(count); // measure() left the errors there
        Matrix activeErrors = hiddenErrors.firstRows(count);
        kernels.multiply(active.transposed(), errors, outer.gradient());
        kernels.run("sum_rows", errors.columns(), count, errors.columns(), errors, outerBias.gradient());
        kernels.multiply(errors, outer.values().transposed(), activeErrors);
        kernels.run("block", active.size(), active, activeErrors);
        kernels.multiply(samples.transposed(), activeErrors, inner.gradient());
        kernels.run("sum_rows", active.columns(), count, active.columns(), activeErrors, innerBias.gradient());
    }

    /** Writes the sum of losses and the number of hits of the samples measured last into a row of {@code steps}. */
    void tally(int samples, Matrix steps, int step) {
        kernels.run("tally", 2, samples, scores, steps, step);
    }

    List<Parameters> parameters() {
        return List.of(inner, innerBias, outer, outerBias);
    }
}
