package dev.larder.loader.transform;

import dev.larder.loader.sample.Philox;

/**
 * Gives a user's step its random numbers: a sequence that depends on seed, epoch, sample and step alone.
 *
 * <p>One sample after the other uses the same object; it is not to be kept or shared.
 */
public final class SampleRandom {
    private long key;
    private long next;

    SampleRandom() {}

    /** Begins the sequence of one step and sample. */
    void begin(long seed, long epoch, long position, int step) {
        key = Philox.bits(seed, epoch, position, step);
        next = 0;
    }

    /** Returns 64 random bits. */
    public long nextLong() {
        return Philox.bits(key, 0, next++, 0);
    }

    /** Returns a number of 0 to below {@code bound}. */
    public int nextInt(int bound) {
        return Philox.below(nextLong(), bound);
    }

    /** Returns a number of 0 to below 1, a multiple of 2⁻²⁴. */
    public float nextFloat() {
        return Philox.unitFloat(nextLong());
    }

    /** Returns a number of 0 to below 1, a multiple of 2⁻⁵³. */
    public double nextDouble() {
        return Philox.unitDouble(nextLong());
    }

    /** Returns a number of the normal distribution with mean 0 and deviation 1, the same on every machine. */
    public double nextGaussian() {
        double radius = StrictMath.sqrt(-2 * StrictMath.log(1 - nextDouble()));
        return radius * StrictMath.cos(2 * Math.PI * nextDouble());
    }
}
