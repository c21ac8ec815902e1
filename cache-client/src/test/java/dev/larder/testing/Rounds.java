package dev.larder.testing;

import java.util.Random;

/**
 * Counts the rounds of a random test, and seeds it.
 *
 * <p>{@code -Dlarder.rounds.times=20} gives every such test 20 times as many rounds, {@code -Dlarder.rounds=120} gives each 120,
 * and {@code -Dlarder.seed=7} repeats a run that printed this seed. {@code ops/test --long rounds} finds the tests that use this
 * class and runs them all:
 *
 * <pre>
 *   mvn -pl loader/distributed -am test -Dtest='Dying*Test' -Dsurefire.failIfNoSpecifiedTests=false \
 *       -Dlarder.rounds=120 -Dlarder.seed=7
 * </pre>
 */
public final class Rounds {
    private final String what;
    private final int count;
    private final long seed;
    private final Random random;

    private Rounds(String what, int usual, long usualSeed) {
        this.what = what;
        this.count = Integer.getInteger("larder.rounds", usual * Integer.getInteger("larder.rounds.times", 1));
        this.seed = Long.getLong("larder.seed", usualSeed);
        this.random = new Random(seed);
        System.err.println(this);
    }

    /** Plans so many rounds with a new seed each time, and prints the seed. */
    public static Rounds of(String what, int usual) {
        return new Rounds(what, usual, System.nanoTime());
    }

    /** Plans so many rounds with the same seed each time, and prints it. */
    public static Rounds of(String what, int usual, long usualSeed) {
        return new Rounds(what, usual, usualSeed);
    }

    /** Returns how many there are. */
    public int count() {
        return count;
    }

    public long seed() {
        return seed;
    }

    /** Returns the random numbers of the test, from this seed. */
    public Random random() {
        return random;
    }

    /** Returns a random moment, in nanoseconds from now. */
    public long momentNs(int milliseconds) {
        return random.nextInt(milliseconds * 1_000_000);
    }

    @Override
    public String toString() {
        return what + ": seed=" + seed + " rounds=" + count;
    }
}
