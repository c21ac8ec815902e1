package dev.larder.loader.internal.transform;

import dev.larder.loader.internal.sample.Philox;
import dev.larder.loader.transform.SampleRandom;

/** The random numbers of one step, begun anew for each sample. */
public final class StepRandom implements SampleRandom {
    private long key;
    private long next;

    /** Begins the sequence of one step and sample. */
    public void begin(long seed, long epoch, long position, int step) {
        key = Philox.bits(seed, epoch, position, step);
        next = 0;
    }

    @Override
    public long nextLong() {
        return Philox.bits(key, 0, next++, 0);
    }

    @Override
    public int nextInt(int bound) {
        return Philox.below(nextLong(), bound);
    }

    @Override
    public float nextFloat() {
        return Philox.unitFloat(nextLong());
    }

    @Override
    public double nextDouble() {
        return Philox.unitDouble(nextLong());
    }

    @Override
    public double nextGaussian() {
        double radius = StrictMath.sqrt(-2 * StrictMath.log(1 - nextDouble()));
        return radius * StrictMath.cos(2 * Math.PI * nextDouble());
    }
}
