package dev.larder.examples.distributed;

import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import java.util.Arrays;

/**
 * Softmax regression on images, as a function of one parameter vector: 10 rows of weights, then 10 biases. Computes loss and
 * gradient of a batch; the caller makes the step.
 */
final class SoftmaxGradient {
    static final int CLASSES = 10;
    private static final float MEAN = 0.286f;
    private static final float DEVIATION = 0.353f;

    private final int pixels;
    private final float[] scale = new float[256];
    private final float[] image;
    private final float[] scores = new float[CLASSES];
    private final float[] gradient;
    private double loss;
    private int hits;

    SoftmaxGradient(int pixels) {
        this.pixels = pixels;
        this.image = new float[pixels];
        this.gradient = new float[parameters()];
        for (int value = 0; value < scale.length; value++) {
            scale[value] = (value / 255f - MEAN) / DEVIATION;
        }
    }

    /** Returns the number of parameters. */
    int parameters() {
        return CLASSES * (pixels + 1);
    }

    /** Returns the mean gradient of a batch of images and labels. The array is valid until the next call. */
    float[] of(float[] parameters, Batch batch) {
        BatchArray images = batch.array(0);
        BatchArray labels = batch.array(1);
        Arrays.fill(gradient, 0);
        loss = 0;
        hits = 0;
        for (int i = 0; i < batch.size(); i++) {
            read(images, i);
            add(parameters, labels.getInt(i));
        }
        for (int k = 0; k < gradient.length; k++) {
            gradient[k] /= batch.size();
        }
        return gradient;
    }

    private void read(BatchArray images, int sample) {
        int rows = (int) images.dimension(1);
        int columns = (int) images.dimension(2);
        for (int row = 0, p = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++, p++) {
                image[p] = scale[images.getInt(sample, row, column)];
            }
        }
    }

    private void add(float[] parameters, int label) {
        for (int c = 0; c < CLASSES; c++) {
            scores[c] = parameters[CLASSES * pixels + c] + product(parameters, c * pixels);
        }
        softmax(label);
        for (int c = 0; c < CLASSES; c++) {
            float slope = scores[c] - (c == label ? 1 : 0);
            for (int p = 0; p < pixels; p++) {
                gradient[c * pixels + p] += slope * image[p];
            }
            gradient[CLASSES * pixels + c] += slope;
        }
    }

    /** Returns the product of a row and an image, in four independent sums for speed. */
    private float product(float[] parameters, int row) {
        float a = 0;
        float b = 0;
        float c = 0;
        float d = 0;
        int p = 0;
        for (; p + 3 < pixels; p += 4) {
            a += parameters[row + p] * image[p];
            b += parameters[row + p + 1] * image[p + 1];
            c += parameters[row + p + 2] * image[p + 2];
            d += parameters[row + p + 3] * image[p + 3];
        }
        for (; p < pixels; p++) {
            a += parameters[row + p] * image[p];
        }
        return a + b + c + d;
    }

    private void softmax(int label) {
        int best = 0;
        for (int c = 1; c < CLASSES; c++) {
            best = scores[c] > scores[best] ? c : best;
        }
        float highest = scores[best];
        double sum = 0;
        for (int c = 0; c < CLASSES; c++) {
            scores[c] = (float) Math.exp(scores[c] - highest);
            sum += scores[c];
        }
        for (int c = 0; c < CLASSES; c++) {
            scores[c] = (float) (scores[c] / sum);
        }
        loss -= Math.log(Math.max(scores[label], Float.MIN_NORMAL));
        hits += best == label ? 1 : 0;
    }

    /** Returns the sum of the losses of the last batch. */
    double loss() {
        return loss;
    }

    /** Returns the number of correctly classified images in the last batch. */
    int hits() {
        return hits;
    }
}
