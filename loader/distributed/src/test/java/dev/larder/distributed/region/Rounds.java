package dev.larder.distributed.region;

import java.util.Random;

/**
 * How often tests kill processes at random moments, and when. For more of it, or for the same again:
 *
 * <pre>
 *   mvn -pl loader/distributed -am test -Dtest='Dying*Test' -Dsurefire.failIfNoSpecifiedTests=false \
 *       -Dlarder.rounds=120 -Dlarder.seed=7
 * </pre>
 */
public final class Rounds {
    private final long seed = Long.getLong("larder.seed", System.nanoTime());
    private final Random random = new Random(seed);

    /** Says what the seed is, so that a failure can be repeated. */
    public Rounds(String what) {
        System.err.println(what + ": seed=" + seed + " rounds=" + count());
    }

    /** Returns how many there are. */
    public int count() {
        return Integer.getInteger("larder.rounds", 10);
    }

    /** Returns a random moment, in nanoseconds from now. */
    public long momentNs(int milliseconds) {
        return random.nextInt(milliseconds * 1_000_000);
    }
}
