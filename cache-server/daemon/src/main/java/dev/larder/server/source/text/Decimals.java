package dev.larder.server.source.text;

import java.math.BigInteger;

/**
 * Rounds decimal numbers to the nearest double, as {@link Double#parseDouble} does, without garbage: small ones by one exact operation (Clinger, How to
 * read floating point numbers accurately, 1990), others by one product of 128 bits (Lemire, Number parsing at a gigabyte per second, 2021).
 */
final class Decimals {
    private static final double[] POWERS_OF_TEN = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22
    };
    private static final long EXACT_DIGITS = 1L << 53;
    private static final int LEAST_POWER = -342;
    private static final int LARGEST_POWER = 308;

    /** Least power of five whose inverse has an exact product with each number of 64 bits, so that the product decides. */
    private static final int LEAST_SURE_POWER = -27;

    private static final int LARGEST_SURE_POWER = 55;
    private static final int LEAST_POWER_OF_TIES = -4;
    private static final int LARGEST_POWER_OF_TIES = 23;
    private static final int FRACTION_BITS = 52;
    private static final int EXPONENT_BIAS = 1023;
    private static final int INFINITE_EXPONENT = 0x7ff;

    /** The upper 128 bits of each power of five, two numbers each. */
    private static final long[] FIVES = fives();

    private Decimals() {}

    /**
     * Returns the double nearest to {@code digits * 10^exponent}, or NaN if only an exact computation can decide.
     *
     * @param digits an unsigned number
     */
    static double nearest(long digits, int exponent) {
        if (digits >= 0 && digits <= EXACT_DIGITS && exponent >= -22 && exponent <= 22) {
            return exponent < 0 ? digits / POWERS_OF_TEN[-exponent] : digits * POWERS_OF_TEN[exponent];
        } else if (digits == 0) {
            return 0;
        } else if (exponent < LEAST_POWER || exponent > LARGEST_POWER) {
            return Double.NaN;
        }
        int zeros = Long.numberOfLeadingZeros(digits);
        long shifted = digits << zeros;
        int place = 2 * (exponent - LEAST_POWER);
        long low = shifted * FIVES[place];
        long high = highProduct(shifted, FIVES[place]);
        if ((high & 0x1ff) == 0x1ff) { // what the lower half of the power adds may carry into the bits that are kept
            long added = highProduct(shifted, FIVES[place + 1]);
            low += added;
            if (Long.compareUnsigned(low, added) < 0) {
                high++;
            }
        }
        if (low == -1 && (exponent < LEAST_SURE_POWER || exponent > LARGEST_SURE_POWER)) {
            return Double.NaN;
        }
        return rounded(exponent, zeros, high, low);
    }

    private static double rounded(int exponent, int zeros, long high, long low) {
        int upperBit = (int) (high >>> 63);
        int shift = upperBit + Long.SIZE - FRACTION_BITS - 3;
        long fraction = high >>> shift;
        int power = (((152_170 + 65_536) * exponent) >> 16) + 63 + upperBit - zeros + EXPONENT_BIAS;
        if (power <= 0) {
            return Double.NaN; // subnormal
        }
        boolean mayBeTie = exponent >= LEAST_POWER_OF_TIES && exponent <= LARGEST_POWER_OF_TIES;
        if (mayBeTie && low >= 0 && low <= 1 && (fraction & 3) == 1 && fraction << shift == high) {
            fraction &= ~1; // halfway: to the even one
        }
        fraction = (fraction + (fraction & 1)) >>> 1;
        if (fraction >= 2L << FRACTION_BITS) {
            fraction = 1L << FRACTION_BITS;
            power++;
        }
        return power >= INFINITE_EXPONENT
                ? Double.NaN
                : Double.longBitsToDouble((fraction & ~(1L << FRACTION_BITS)) | (long) power << FRACTION_BITS);
    }

    /** Returns the upper half of the product of two unsigned numbers. */
    private static long highProduct(long a, long b) {
        return Math.multiplyHigh(a, b) + ((a >> 63) & b) + ((b >> 63) & a);
    }

    private static long[] fives() {
        long[] fives = new long[2 * (LARGEST_POWER - LEAST_POWER + 1)];
        BigInteger power = BigInteger.ONE;
        for (int exponent = 0; exponent <= -LEAST_POWER; exponent++) {
            int length = power.bitLength();
            if (exponent <= LARGEST_POWER) {
                put(fives, exponent, power.shiftLeft(128).shiftRight(length));
            }
            if (exponent > 0) {
                int shift = -exponent >= LEAST_SURE_POWER ? length + 127 : 2 * length + 128;
                BigInteger inverse =
                        BigInteger.ONE.shiftLeft(shift).divide(power).add(BigInteger.ONE);
                put(fives, -exponent, inverse.shiftRight(inverse.bitLength() - 128));
            }
            power = power.multiply(BigInteger.valueOf(5));
        }
        return fives;
    }

    private static void put(long[] fives, int exponent, BigInteger upperBits) {
        int place = 2 * (exponent - LEAST_POWER);
        fives[place] = upperBits.shiftRight(Long.SIZE).longValue();
        fives[place + 1] = upperBits.longValue();
    }
}
