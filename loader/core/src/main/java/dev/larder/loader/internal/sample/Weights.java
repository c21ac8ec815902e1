package dev.larder.loader.internal.sample;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;

/** The weights of rows for random draws. Owns the array. */
public final class Weights {
    private final double[] values;

    private Weights(double[] values) {
        this.values = values;
    }

    /** Checks that every weight is valid, and that at least {@code positiveNeeded} rows can be drawn. */
    public static Weights of(double[] values, long positiveNeeded) {
        long positive = 0;
        for (int row = 0; row < values.length; row++) {
            double weight = values[row];
            if (!(weight >= 0) || Double.isInfinite(weight)) {
                throw Failure.of(ErrorCode.BAD_INPUT, "weight is not a finite number of at least 0")
                        .with("row", row)
                        .with("weight", weight)
                        .remedy("use the weight 0 for rows that must not be drawn");
            }
            positive += weight > 0 ? 1 : 0;
        }
        if (positive < positiveNeeded) {
            throw Failure.of(ErrorCode.BAD_INPUT, "too few rows can be drawn")
                    .with("rows", values.length)
                    .with("positiveWeights", positive)
                    .with("needed", positiveNeeded)
                    .remedy("draw fewer samples, or give more rows a weight above 0");
        }
        return new Weights(values);
    }

    public int rows() {
        return values.length;
    }

    /** Returns the weights relative to the largest. */
    public double[] scaled() {
        double max = 0;
        for (double weight : values) {
            max = Math.max(max, weight);
        }
        double[] scaled = new double[values.length];
        for (int row = 0; row < scaled.length; row++) {
            scaled[row] = values[row] / max;
        }
        return scaled;
    }

    /** Returns the weights of a subset's rows. */
    public double[] over(RowList subset) {
        Requirements.rows(subset, rows());
        double[] ofPlaces = new double[Requirements.arrayLength("rows", subset.size())];
        for (int place = 0; place < ofPlaces.length; place++) {
            ofPlaces[place] = values[(int) subset.row(place)];
        }
        return ofPlaces;
    }

    public String description() {
        return "weights(rows=" + rows() + " crc32c="
                + Fingerprint.of(rows(), row -> Double.doubleToLongBits(values[row])) + ")";
    }
}
