package dev.larder.examples;

import java.util.Arrays;

/**
 * Softmax regression in plain Java: {@code classes} linear functions of the pixels, learned by gradient descent.
 *
 * <p>A batch is stored twice, image by image and pixel by pixel. Every inner loop then runs over contiguous floats and sums nothing
 * across iterations, so that the JIT compiler can vectorise it.
 */
final class SoftmaxModel {
    private final int pixels;
    private final int classes;
    private final int capacity;

    /** Weight of pixel p for class c at {@code c * pixels + p}. */
    private final float[] weights;

    private final float[] biases;
    private final float[] gradient;

    /** Pixel p of image i at {@code i * pixels + p}. */
    private final float[] byImage;

    /** Pixel p of image i at {@code p * capacity + i}. */
    private final float[] byPixel;

    /** Score, then probability, of class c for image i at {@code c * capacity + i}. */
    private final float[] scores;

    private double lossSum;
    private long hits;
    private long seen;

    SoftmaxModel(int pixels, int classes, int capacity) {
        this.pixels = pixels;
        this.classes = classes;
        this.capacity = capacity;
        this.weights = new float[classes * pixels];
        this.biases = new float[classes];
        this.gradient = new float[pixels];
        this.byImage = new float[capacity * pixels];
        this.byPixel = new float[capacity * pixels];
        this.scores = new float[classes * capacity];
    }

    /** Returns the maximum number of images in a batch. */
    int capacity() {
        return capacity;
    }

    /** Sets one pixel of an image of the batch. */
    void pixel(int image, int pixel, float value) {
        byImage[image * pixels + pixel] = value;
        byPixel[pixel * capacity + image] = value;
    }

    /** Classifies the first {@code count} images, counts loss and hits, and makes a gradient step. */
    void learn(int[] labels, int count, float learningRate) {
        measure(labels, count);
        float step = -learningRate / count;
        for (int c = 0; c < classes; c++) {
            float biasSlope = 0;
            Arrays.fill(gradient, 0);
            for (int i = 0; i < count; i++) {
                float slope = scores[c * capacity + i] - (labels[i] == c ? 1 : 0);
                addScaled(gradient, 0, byImage, i * pixels, pixels, slope);
                biasSlope += slope;
            }
            addScaled(weights, c * pixels, gradient, 0, pixels, step);
            biases[c] += step * biasSlope;
        }
    }

    /** Classifies the first {@code count} images, and counts loss and hits. */
    void measure(int[] labels, int count) {
        for (int c = 0; c < classes; c++) {
            Arrays.fill(scores, c * capacity, c * capacity + count, biases[c]);
            for (int p = 0; p < pixels; p++) {
                addScaled(scores, c * capacity, byPixel, p * capacity, count, weights[c * pixels + p]);
            }
        }
        for (int i = 0; i < count; i++) {
            softmax(i, labels[i]);
        }
        seen += count;
    }

    /** Adds {@code factor} times a range of one array to a range of another. */
    private static void addScaled(float[] to, int toStart, float[] from, int fromStart, int length, float factor) {
        for (int k = 0; k < length; k++) {
            to[toStart + k] += factor * from[fromStart + k];
        }
    }

    /** Turns the scores of one image into probabilities. */
    private void softmax(int image, int label) {
        int best = 0;
        for (int c = 1; c < classes; c++) {
            best = scores[c * capacity + image] > scores[best * capacity + image] ? c : best;
        }
        float highest = scores[best * capacity + image];
        double sum = 0;
        for (int c = 0; c < classes; c++) {
            double power = Math.exp(scores[c * capacity + image] - highest);
            scores[c * capacity + image] = (float) power;
            sum += power;
        }
        for (int c = 0; c < classes; c++) {
            scores[c * capacity + image] /= (float) sum;
        }
        lossSum -= Math.log(Math.max(scores[label * capacity + image], Float.MIN_NORMAL));
        hits += best == label ? 1 : 0;
    }

    /** Returns the mean loss and the share of hits since the last call. */
    Score score() {
        Score score = new Score(lossSum / seen, (double) hits / seen);
        lossSum = 0;
        hits = 0;
        seen = 0;
        return score;
    }

    /** The quality of a model: mean cross-entropy and the share of correctly classified images. */
    record Score(double loss, double accuracy) {
        static final Score NONE = new Score(Double.NaN, Double.NaN);
    }
}
