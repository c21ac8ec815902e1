package dev.larder.loader.sample;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.sample.Interleaving;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The proportions of several sources, and the action when one has no rows left. Immutable.
 *
 * <pre>{@code
 * Mixture.weights(6, 3, 1)                                       // of ten samples, six are of the first
 * Mixture.bySize().temperature(2).exhausted(Exhausted.REPEAT)    // by the square root of their sizes; small ones begin again
 * }</pre>
 *
 * <p>A source's share is exact over some hundred samples, not only in the mean. The source and the row of a
 * position depend only on seed and epoch, and can be computed for any position: mixtures are divided among ranks and resumed as any order.
 */
public final class Mixture {
    /** The action when a source of a {@link Mixture} has no rows left in an epoch. */
    public enum Exhausted {
        /** The epoch ends: no row comes twice, and sources with more rows than their share keep some for other epochs. */
        STOP,
        /** The source begins again, in its next order; the epoch ends when every row was visited once, or after {@link Mixture#samples}. */
        REPEAT,
        /** The other sources continue in proportion to their weights: every row comes once. */
        UNTIL_ALL
    }

    private final double[] weights;
    private final double temperature;
    private final Exhausted exhausted;
    private final long samples;

    private Mixture(double[] weights, double temperature, Exhausted exhausted, long samples) {
        this.weights = weights;
        this.temperature = temperature;
        this.exhausted = exhausted;
        this.samples = samples;
    }

    /** Mixes in proportion to weights, one for each source; their sum does not matter. */
    public static Mixture weights(double... weights) {
        if (weights.length == 0) {
            throw new IllegalArgumentException("a mixture needs weights");
        }
        for (double weight : weights) {
            if (!(weight > 0) || !Double.isFinite(weight)) {
                throw new IllegalArgumentException(
                        "a weight must be above 0: weights=" + Arrays.toString(weights) + "; remove the source");
            }
        }
        return new Mixture(weights.clone(), 1, Exhausted.STOP, 0);
    }

    /** Mixes in proportion to the number of samples of each source. */
    public static Mixture bySize() {
        return new Mixture(new double[0], 1, Exhausted.STOP, 0);
    }

    /** Takes weights to the power of {@code 1 / temperature}: above 1, small sources have more than their share. */
    public Mixture temperature(double newTemperature) {
        if (!(newTemperature > 0) || !Double.isFinite(newTemperature)) {
            throw new IllegalArgumentException("temperature must be above 0: temperature=" + newTemperature);
        }
        return new Mixture(weights, newTemperature, exhausted, samples);
    }

    /** Sets the action when a source has no rows left; {@link Exhausted#STOP} by default. */
    public Mixture exhausted(Exhausted policy) {
        return new Mixture(weights, temperature, policy, samples);
    }

    /** Repeats sources without rows left, and ends the epoch after this number of samples. */
    public Mixture samples(long count) {
        if (count < 1) {
            throw new IllegalArgumentException("an epoch has at least one sample: samples=" + count);
        }
        return new Mixture(weights, temperature, Exhausted.REPEAT, count);
    }

    /** Fails unless there is a weight for each source. */
    public void requireSources(int sources) {
        if (weights.length != 0 && weights.length != sources) {
            throw new IllegalArgumentException(
                    "give one weight for each source: weights=" + weights.length + " sources=" + sources);
        }
    }

    /**
     * Returns a sampler over the rows of all sources, one source after the other.
     *
     * @param within the sampler of each source; a repeated source uses the orders of its epochs one after the other
     * @param seed the seed for the positions of sources
     * @param sizes the number of rows of each source
     */
    public Sampler sampler(Sampler within, long seed, long... sizes) {
        return mixed(within, seed, sizes);
    }

    MixedSampler mixed(Sampler within, long seed, long... sizes) {
        requireSources(sizes.length);
        if (sizes.length > Interleaving.MAX_SOURCES) {
            throw new IllegalArgumentException(
                    "too many sources: sources=" + sizes.length + " max=" + Interleaving.MAX_SOURCES);
        }
        for (int i = 0; i < sizes.length; i++) {
            if (sizes[i] < 1) {
                throw Failure.of(ErrorCode.BAD_INPUT, "a source of a mixture has no rows")
                        .with("source", i)
                        .with("rows", sizes[i])
                        .remedy("remove it");
            }
        }
        double[] effective = IntStream.range(0, sizes.length)
                .mapToDouble(i -> StrictMath.pow(weights.length == 0 ? sizes[i] : weights[i], 1 / temperature))
                .toArray();
        String described = "mix(" + (weights.length == 0 ? "bySize" : "weights=" + spelled(weights))
                + (temperature == 1 ? "" : " temperature=" + temperature) + " " + exhausted
                + (samples == 0 ? "" : " samples=" + samples) + " rows=" + spelled(sizes) + " seed=" + seed + ") of "
                + within.description();
        return new MixedSampler(described, within, effective, exhausted, samples, seed, sizes.clone());
    }

    /**
     * Returns the number of visited rows of each source after {@code consumed} samples of an epoch, such as {@code web=1200 books=600}.
     */
    public String placesAfter(Sampler within, long seed, long[] sizes, String[] names, long epoch, long consumed) {
        long[] counts = mixed(within, seed, sizes).countsAfter(epoch, consumed);
        StringBuilder places = new StringBuilder();
        for (int i = 0; i < names.length; i++) {
            places.append(i == 0 ? "" : " ").append(names[i]).append('=').append(counts[i]);
        }
        return places.toString();
    }

    private static String spelled(double[] numbers) {
        return Arrays.toString(numbers).replace(" ", "").replace("[", "").replace("]", "");
    }

    private static String spelled(long[] numbers) {
        return LongStream.of(numbers).mapToObj(Long::toString).collect(java.util.stream.Collectors.joining(","));
    }

    @Override
    public String toString() {
        return "Mixture{" + (weights.length == 0 ? "bySize" : Arrays.toString(weights)) + " " + exhausted + "}";
    }
}
