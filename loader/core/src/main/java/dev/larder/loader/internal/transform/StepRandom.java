package dev.larder.loader.internal.transform;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.sample.Philox;
import dev.larder.loader.transform.SampleRandom;

/** The random numbers of one step, restarted for each sample or batch. */
public final class StepRandom implements SampleRandom {
    private final boolean refuses;
    private long key;
    private long next;

    public StepRandom() {
        this(false);
    }

    private StepRandom(boolean refuses) {
        this.refuses = refuses;
    }

    /** Returns an instance that fails on every draw: for samples that must always be the same. */
    public static StepRandom refusing() {
        return new StepRandom(true);
    }

    /** Starts the sequence of one step and sample. */
    public void begin(long seed, long epoch, long position, int step) {
        key = Philox.bits(seed, epoch, position, step);
        next = 0;
    }

    @Override
    public long nextLong() {
        if (refuses) {
            throw Failure.of(ErrorCode.USAGE, "a function draws random numbers, but its result is to be kept")
                    .remedy("put a random step before it, or leave computed(…) out");
        }
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
