package dev.larder.loader.internal.sample;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.Objects;

/**
 * A pseudo-random order of 0 to {@code length - 1} that is computed row by row and takes no memory.
 *
 * <p>A keyed Feistel network over unlike halves permutes the numbers below the next multiple of a power of two. It is applied
 * again while its result is beyond the end. Both are from Black and Rogaway, "Ciphers with Arbitrary Finite Domains"
 * (CT-RSA 2002): the generalised Feistel cipher and cycle walking, which is rare here. The lower half has half of the bits
 * of the last place, and is combined by exclusive or; the upper half has a bound of its own, and is combined by addition. Not
 * cryptographically secure.
 */
public final class Permutation {
    static final long MAX_LENGTH = 1L << 62;

    private static final int MIN_ROUNDS = 8;
    private static final int MAX_ROUNDS = 48;
    private static final int FEWER_ROUNDS_A_BIT = 4;
    private static final long MULTIPLIER = 0xd6e8_feb8_6659_fd93L;

    private final long length;
    private final long[] keys;
    private final int lowBits;
    private final int lowShift;
    private final long lowMask;
    private final long highBound;

    private Permutation(long length, long[] keys) {
        this.length = length;
        this.keys = keys;
        this.lowBits = bits(length) / 2;
        this.lowShift = Long.SIZE - 1 - lowBits;
        this.lowMask = (1L << lowBits) - 1;
        this.highBound = (length >>> lowBits) + ((length & lowMask) == 0 ? 0 : 1);
    }

    /** Returns a permutation; {@code draw} separates the uses of one seed. */
    public static Permutation of(long length, long seed, long epoch, int draw) {
        return of(length, seed, epoch, 0, draw);
    }

    /** Returns one of several permutations for the same use. */
    public static Permutation of(long length, long seed, long epoch, long which, int draw) {
        if (length < 0 || length > MAX_LENGTH) {
            throw Failure.of(ErrorCode.BAD_INPUT, "too many rows to shuffle")
                    .with("rows", length)
                    .with("max", MAX_LENGTH)
                    .exception();
        }
        long[] keys = new long[rounds(length)];
        long first = Math.multiplyExact(which, MAX_ROUNDS);
        for (int round = 0; round < keys.length; round++) {
            keys[round] = Philox.bits(seed, epoch, first + round, draw);
        }
        return new Permutation(length, keys);
    }

    /** Returns the number of bits of the last place. */
    private static int bits(long length) {
        return length <= 1 ? 0 : Long.SIZE - Long.numberOfLeadingZeros(length - 1);
    }

    /** Returns the number of rounds after which all orders are about equally likely: few bits need more rounds. */
    private static int rounds(long length) {
        return Math.max(MIN_ROUNDS, MAX_ROUNDS - FEWER_ROUNDS_A_BIT * bits(length));
    }

    public long length() {
        return length;
    }

    /** Returns the row at a place. */
    public long at(long place) {
        long walked = Objects.checkIndex(place, length);
        do {
            walked = permute(walked);
        } while (walked >= length);
        return walked;
    }

    private long permute(long number) {
        long high = number >>> lowBits;
        long low = number & lowMask;
        for (int round = 0; round < keys.length; round += 2) {
            high += Math.multiplyHigh(mix(low ^ keys[round]), highBound << 1);
            high -= high >= highBound ? highBound : 0;
            low ^= mix(high ^ keys[round + 1]) >>> lowShift;
        }
        return (high << lowBits) | low;
    }

    /** Returns 63 bits; the upper ones depend on all bits of the argument. */
    private static long mix(long bits) {
        long product = bits * MULTIPLIER;
        return ((product ^ (product >>> 32)) * MULTIPLIER) >>> 1;
    }
}
