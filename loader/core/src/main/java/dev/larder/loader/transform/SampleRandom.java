package dev.larder.loader.transform;

/**
 * The random numbers for a user's step: a sequence that depends only on seed, epoch, sample and step.
 *
 * <p>Consecutive samples use the same object. Do not keep or share it.
 */
public interface SampleRandom {
    /** Returns 64 random bits. */
    long nextLong();

    /** Returns a number from 0 to below {@code bound}. */
    int nextInt(int bound);

    /** Returns a number from 0 to below 1, a multiple of 2⁻²⁴. */
    float nextFloat();

    /** Returns a number from 0 to below 1, a multiple of 2⁻⁵³. */
    double nextDouble();

    /** Returns a number from the normal distribution with mean 0 and deviation 1, the same on every machine. */
    double nextGaussian();
}
