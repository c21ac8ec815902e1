package dev.larder.loader.sample;

/** Tells how far counts are from being even. */
public final class Uniformity {
    private Uniformity() {}

    /** Returns Pearson's statistic of counts that should all be equal. */
    public static double chiSquare(long[] counts) {
        long sum = 0;
        for (long count : counts) {
            sum += count;
        }
        double expected = (double) sum / counts.length;
        double statistic = 0;
        for (long count : counts) {
            statistic += (count - expected) * (count - expected) / expected;
        }
        return statistic;
    }

    /** Returns what the statistic stays below but once in a million, by Wilson and Hilferty. */
    public static double limit(int degreesOfFreedom) {
        return quantile(degreesOfFreedom, 4.753);
    }

    /** Returns the value of the statistic that stands so many standard deviations from its mean, by Wilson and Hilferty. */
    public static double quantile(int degreesOfFreedom, double deviations) {
        double spread = 2.0 / (9.0 * degreesOfFreedom);
        return degreesOfFreedom * Math.pow(1 - spread + deviations * Math.sqrt(spread), 3);
    }
}
