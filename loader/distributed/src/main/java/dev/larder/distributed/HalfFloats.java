package dev.larder.distributed;

/** Floats of two bytes. */
final class HalfFloats {
    private static final int SIGN = 0x8000;
    private static final int HALF_EXPONENT = 0x7c00;
    private static final int FLOAT_EXPONENT = 0x7f80_0000;
    private static final int MANTISSA_SHIFT = 13;
    private static final int SIGN_SHIFT = 16;
    private static final int QUIET_HALF = 0x0200;
    private static final int QUIET_BFLOAT = 0x0040;

    /** 2 to the difference of the two biases, 127 - 15. */
    private static final float SCALE = 0x1p112f;

    /** Below it, halves are multiples of their smallest one. */
    private static final int SMALLEST_NORMAL = 113 << 23;

    /** The least float that rounds to infinity. */
    private static final int OVERFLOW = 0x477f_f000;

    private static final int REBIAS = 112 << 23;

    /** Adding it leaves a small value's multiples of 2 to the -24 in the lowest bits, rounded to even by the addition. */
    private static final float SUBNORMAL_MAGIC = 0.5f;

    private HalfFloats() {}

    static float halfToFloat(short half) {
        int sign = (half & SIGN) << SIGN_SHIFT;
        int magnitude = ((half & ~SIGN) << MANTISSA_SHIFT) & 0x0fff_ffff;
        if ((half & HALF_EXPONENT) == HALF_EXPONENT) {
            return Float.intBitsToFloat(sign | FLOAT_EXPONENT | magnitude);
        }
        return Float.intBitsToFloat(sign | Float.floatToRawIntBits(Float.intBitsToFloat(magnitude) * SCALE));
    }

    /** Rounds to the nearest, to even in the middle. */
    static short floatToHalf(float value) {
        int bits = Float.floatToRawIntBits(value);
        int sign = (bits >>> SIGN_SHIFT) & SIGN;
        int magnitude = bits & Integer.MAX_VALUE;
        if (magnitude >= OVERFLOW) {
            int payload = magnitude > FLOAT_EXPONENT ? (QUIET_HALF | ((magnitude >> MANTISSA_SHIFT) & 0x3ff)) : 0;
            return (short) (sign | HALF_EXPONENT | payload);
        }
        if (magnitude < SMALLEST_NORMAL) {
            float shifted = Float.intBitsToFloat(magnitude) + SUBNORMAL_MAGIC;
            return (short) (sign | (Float.floatToRawIntBits(shifted) - Float.floatToRawIntBits(SUBNORMAL_MAGIC)));
        }
        int even = (magnitude >> MANTISSA_SHIFT) & 1;
        return (short) (sign | ((magnitude - REBIAS + 0xfff + even) >> MANTISSA_SHIFT));
    }

    static float bfloatToFloat(short value) {
        return Float.intBitsToFloat(value << SIGN_SHIFT);
    }

    /** Rounds to the nearest, to even in the middle. */
    static short floatToBfloat(float value) {
        int bits = Float.floatToRawIntBits(value);
        if ((bits & Integer.MAX_VALUE) > FLOAT_EXPONENT) {
            return (short) ((bits >> SIGN_SHIFT) | QUIET_BFLOAT);
        }
        return (short) ((bits + 0x7fff + ((bits >> SIGN_SHIFT) & 1)) >> SIGN_SHIFT);
    }
}
