package dev.larder.loader.internal.sample;

import java.nio.charset.StandardCharsets;

/**
 * Random numbers that depend only on their use: Philox4x32-10, the counter-based generator of
 * Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011).
 *
 * <p>It has no state: (seed, epoch, position, draw) always gives the same 64 bits, on any thread and in any order. Allocates nothing.
 * Samplers use draws below 0; all other code counts from 0.
 */
public final class Philox {
    private static final int ROUNDS = 10;
    private static final long MULTIPLIER_0 = 0xd251_1f53L;
    private static final long MULTIPLIER_1 = 0xcd9e_8d57L;
    private static final int WEYL_0 = 0x9e37_79b9;
    private static final int WEYL_1 = 0xbb67_ae85;

    /** Mixes the upper half of an epoch's number into the key. */
    private static final long EPOCH_SPREAD = 0x9e37_79b9_7f4a_7c15L;

    private static final long FNV_BASIS = 0xcbf2_9ce4_8422_2325L;
    private static final long FNV_PRIME = 0x100_0000_01b3L;

    private Philox() {}

    /**
     * Returns the 64 random bits of one draw.
     *
     * <p>For epochs below 2³², draws with different arguments have different inputs of the generator.
     *
     * @param position a sample's row, or its place in the epoch
     * @param draw the number of the draw for that position
     */
    public static long bits(long seed, long epoch, long position, int draw) {
        long key = seed + (epoch >>> 32) * EPOCH_SPREAD;
        return block(position, (epoch << 32) | (draw >>> 1), key, (draw & 1) != 0);
    }

    /**
     * Returns an independent seed for one of several users of a seed, by its name.
     *
     * <p>It is {@code bits(seed, 0, FNV-1a of the name's UTF-8, -22)}, on any machine and in any release.
     */
    public static long seedFor(long seed, String user) {
        long hash = FNV_BASIS;
        for (byte unit : user.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (unit & 0xff)) * FNV_PRIME;
        }
        return bits(seed, 0, hash, Draws.USER);
    }

    /** Returns a number of 0 to below 1 from random bits: a multiple of 2⁻⁵³. */
    public static double unitDouble(long bits) {
        return (bits >>> 11) * 0x1.0p-53;
    }

    /** Returns a number of 0 to below 1 from random bits: a multiple of 2⁻²⁴. */
    public static float unitFloat(long bits) {
        return (bits >>> 40) * 0x1.0p-24f;
    }

    /** Returns a whole number of 0 to below {@code bound} from random bits; none is likelier by more than {@code bound} in 2⁶⁴. */
    public static long below(long bits, long bound) {
        if (bound < 1) {
            throw new IllegalArgumentException("bound must be positive: bound=" + bound);
        }
        return Math.multiplyHigh(bits, bound) + ((bits >> 63) & bound); // bits are unsigned
    }

    /** Returns a whole number of 0 to below {@code bound} from random bits. */
    public static int below(long bits, int bound) {
        return (int) below(bits, (long) bound);
    }

    /** Encrypts one counter of four words; returns the first two words, or the last two, the earlier one as the lower half. */
    static long block(long counterLow, long counterHigh, long key, boolean last) {
        int word0 = (int) counterLow;
        int word1 = (int) (counterLow >>> 32);
        int word2 = (int) counterHigh;
        int word3 = (int) (counterHigh >>> 32);
        int key0 = (int) key;
        int key1 = (int) (key >>> 32);
        for (int round = 0; round < ROUNDS; round++) {
            long product0 = MULTIPLIER_0 * (word0 & 0xffff_ffffL);
            long product1 = MULTIPLIER_1 * (word2 & 0xffff_ffffL);
            word0 = (int) (product1 >>> 32) ^ word1 ^ key0;
            word1 = (int) product1;
            word2 = (int) (product0 >>> 32) ^ word3 ^ key1;
            word3 = (int) product0;
            key0 += WEYL_0;
            key1 += WEYL_1;
        }
        return last ? join(word2, word3) : join(word0, word1);
    }

    private static long join(int lower, int upper) {
        return ((long) upper << 32) | (lower & 0xffff_ffffL);
    }
}
