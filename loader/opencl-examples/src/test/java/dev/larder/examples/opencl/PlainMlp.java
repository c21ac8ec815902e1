package dev.larder.examples.opencl;

/** The network in plain Java and double precision, only forward: gradients come of trying. */
final class PlainMlp {
    private static final double SMALL = 1e-6;

    private final Mlp.Size size;
    private final double[][] parameters;
    private final float[] images;
    private final int[] labels;

    PlainMlp(Mlp.Size size, double[][] parameters, float[] images, int[] labels) {
        this.size = size;
        this.parameters = parameters;
        this.images = images;
        this.labels = labels;
    }

    /** Tells how the mean loss changes with each of some parameters. */
    double[] gradient(int which) {
        double[] values = parameters[which];
        double[] gradient = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            double value = values[i];
            values[i] = value + SMALL;
            double above = loss();
            values[i] = value - SMALL;
            gradient[i] = (above - loss()) / (2 * SMALL);
            values[i] = value;
        }
        return gradient;
    }

    double loss() {
        double loss = 0;
        for (int sample = 0; sample < labels.length; sample++) {
            double[] outputs = outputs(sample);
            double sum = 0;
            for (double output : outputs) {
                sum += Math.exp(output);
            }
            loss += Math.log(sum) - outputs[labels[sample]];
        }
        return loss / labels.length;
    }

    double accuracy() {
        double hits = 0;
        for (int sample = 0; sample < labels.length; sample++) {
            double[] outputs = outputs(sample);
            boolean best = true;
            for (double output : outputs) {
                best &= output <= outputs[labels[sample]];
            }
            hits += best ? 1 : 0;
        }
        return hits / labels.length;
    }

    private double[] outputs(int sample) {
        double[] input = new double[size.inputs()];
        for (int i = 0; i < input.length; i++) {
            input[i] = images[sample * input.length + i];
        }
        double[] hidden = layer(input, parameters[0], parameters[1]);
        for (int i = 0; i < hidden.length; i++) {
            hidden[i] = Math.max(0, hidden[i]);
        }
        return layer(hidden, parameters[2], parameters[3]);
    }

    private static double[] layer(double[] inputs, double[] weights, double[] bias) {
        double[] outputs = bias.clone();
        for (int i = 0; i < inputs.length; i++) {
            for (int j = 0; j < outputs.length; j++) {
                outputs[j] += inputs[i] * weights[i * outputs.length + j];
            }
        }
        return outputs;
    }

    static double[] multiply(float[] a, float[] b, int rows, int columns, int depth) {
        double[] product = new double[rows * columns];
        for (int i = 0; i < product.length; i++) {
            for (int k = 0; k < depth; k++) {
                product[i] += (double) a[Math.floorDiv(i, columns) * depth + k] * b[k * columns + i % columns];
            }
        }
        return product;
    }

    static float[] transpose(float[] matrix, int rows, int columns) {
        float[] transposed = new float[matrix.length];
        for (int i = 0; i < matrix.length; i++) {
            transposed[i % columns * rows + Math.floorDiv(i, columns)] = matrix[i];
        }
        return transposed;
    }

    static double[] doubles(float[] values) {
        double[] doubles = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            doubles[i] = values[i];
        }
        return doubles;
    }
}
