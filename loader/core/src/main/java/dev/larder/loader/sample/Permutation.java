package dev.larder.loader.sample;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import java.util.Objects;

/**
 * A pseudo-random order of 0 to {@code length - 1} that is computed place by place: it takes no memory.
 *
 * <p>A keyed Feistel network permutes the numbers of as many bits as the last place has; where it leads beyond the end it is
 * asked again until it does not: the "cycle walking" of Black and Rogaway, "Ciphers with Arbitrary Finite Domains" (CT-RSA
 * 2002), less than twice on average. The halves differ by one bit where the bits are odd in number, and change in turn. This is
 * for shuffling, not for keeping secrets.
 */
final class Permutation {
    static final long MAX_LENGTH = 1L << 62;

    private static final int ROUNDS = 8;

    /** Few bits are mixed less by a round, which costs less there. */
    private static final int ROUNDS_OF_FEW = 24;

    private static final int FEW_BITS = 14;
    private static final long MULTIPLIER = 0xd6e8_feb8_6659_fd93L;

    private final long length;
    private final long[] keys;
    private final int lowBits;
    private final int highShift;
    private final int lowShift;
    private final long lowMask;

    private Permutation(long length, long[] keys) {
        int bits = length <= 1 ? 0 : Long.SIZE - Long.numberOfLeadingZeros(length - 1);
        this.length = length;
        this.keys = keys;
        this.lowBits = bits / 2;
        this.highShift = Long.SIZE - (bits - lowBits);
        this.lowShift = Long.SIZE - lowBits;
        this.lowMask = (1L << lowBits) - 1;
    }

    /** Keys a permutation; {@code draw} keeps apart those that are made for different ends from one seed. */
    static Permutation of(long length, long seed, long epoch, int draw) {
        return of(length, seed, epoch, 0, draw);
    }

    /** Keys one of several permutations for the same end. */
    static Permutation of(long length, long seed, long epoch, long which, int draw) {
        if (length < 0 || length > MAX_LENGTH) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot shuffle so many rows")
                    .with("rows", length)
                    .with("max", MAX_LENGTH)
                    .exception();
        }
        long[] keys = new long[length <= 1L << FEW_BITS ? ROUNDS_OF_FEW : ROUNDS];
        long first = Math.multiplyExact(which, ROUNDS_OF_FEW);
        for (int round = 0; round < keys.length; round++) {
            keys[round] = Philox.bits(seed, epoch, first + round, draw);
        }
        return new Permutation(length, keys);
    }

    long length() {
        return length;
    }

    /** Returns what stands at a place. */
    long at(long place) {
        long walked = Objects.checkIndex(place, length);
        if (length == 1) {
            return 0;
        }
        do {
            walked = permute(walked);
        } while (walked >= length);
        return walked;
    }

    private long permute(long number) {
        long high = number >>> lowBits;
        long low = number & lowMask;
        for (int round = 0; round < keys.length; round += 2) {
            high ^= mix(low ^ keys[round]) >>> highShift;
            if (lowBits > 0) {
                low ^= mix(high ^ keys[round + 1]) >>> lowShift;
            }
        }
        return (high << lowBits) | low;
    }

    /** Spreads every bit over the upper ones. */
    private static long mix(long bits) {
        long product = bits * MULTIPLIER;
        return (product ^ (product >>> 32)) * MULTIPLIER;
    }
}
