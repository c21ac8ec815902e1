package dev.larder.loader.transform;

/**
 * Gives a user's step its random numbers: a sequence that depends on seed, epoch, sample and step alone.
 *
 * <p>One sample after the other uses the same object; it is not to be kept or shared.
 */
public interface SampleRandom {
    /** Returns 64 random bits. */
    long nextLong();

    /** Returns a number of 0 to below {@code bound}. */
    int nextInt(int bound);

    /** Returns a number of 0 to below 1, a multiple of 2⁻²⁴. */
    float nextFloat();

    /** Returns a number of 0 to below 1, a multiple of 2⁻⁵³. */
    double nextDouble();

    /** Returns a number of the normal distribution with mean 0 and deviation 1, the same on every machine. */
    double nextGaussian();
}
