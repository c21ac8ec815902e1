package dev.larder.internal.number;

/** Converts IEEE 754 half-precision numbers. Rounds to nearest, ties to even, as numpy does. */
public final class Half {
    private static final int SIGN = 0x8000;
    private static final int INFINITY = 0x7c00;
    private static final int FRACTION = 0x3ff;
    private static final int QUIET = 0x0200;
    private static final int FLOAT_INFINITY = 0x7f80_0000;
    private static final int FRACTION_SHIFT = 13;
    private static final int SIGN_SHIFT = 16;

    /** 2 to the difference of the two biases, 127 - 15. */
    private static final float SCALE = 0x1p112f;

    /** Below this, all halves are multiples of the smallest one. */
    private static final int SMALLEST_NORMAL = 113 << 23;

    /** The smallest float that rounds to infinity. */
    private static final int OVERFLOW = 0x477f_f000;

    private static final int REBIAS = 112 << 23;

    /** Adding this to a small value leaves its multiples of 2 to the -24 in the lowest bits, rounded to even. */
    private static final float SUBNORMAL_MAGIC = 0.5f;

    private Half() {}

    /** Returns the float with the value of the lower 16 bits. The conversion is exact. */
    public static float toFloat(int bits) {
        int sign = (bits & SIGN) << SIGN_SHIFT;
        int magnitude = (bits & 0x7fff) << FRACTION_SHIFT;
        if ((bits & INFINITY) == INFINITY) {
            return Float.intBitsToFloat(sign | FLOAT_INFINITY | magnitude);
        }
        return Float.intBitsToFloat(sign | Float.floatToRawIntBits(Float.intBitsToFloat(magnitude) * SCALE));
    }

    /** Returns the bits of the half nearest to a float. NaN keeps the part of its bits that fits. */
    public static int ofFloat(float value) {
        int bits = Float.floatToRawIntBits(value);
        int sign = (bits >>> SIGN_SHIFT) & SIGN;
        int magnitude = bits & Integer.MAX_VALUE;
        if (magnitude >= OVERFLOW) {
            if (magnitude <= FLOAT_INFINITY) {
                return sign | INFINITY;
            }
            int fraction = (bits >>> FRACTION_SHIFT) & FRACTION;
            return sign | INFINITY | (fraction == 0 ? 1 : fraction);
        }
        if (magnitude < SMALLEST_NORMAL) {
            float shifted = Float.intBitsToFloat(magnitude) + SUBNORMAL_MAGIC;
            return sign | (Float.floatToRawIntBits(shifted) - Float.floatToRawIntBits(SUBNORMAL_MAGIC));
        }
        int even = (magnitude >> FRACTION_SHIFT) & 1;
        return sign | ((magnitude - REBIAS + 0xfff + even) >> FRACTION_SHIFT);
    }

    /** Returns the bits of the half nearest to a double. */
    public static int ofDouble(double value) {
        if (Double.isNaN(value)) {
            return ((int) (Double.doubleToRawLongBits(value) >>> 48) & SIGN) | INFINITY | QUIET;
        }
        int sign = (int) (Double.doubleToRawLongBits(value) >>> 48) & SIGN;
        double size = Math.abs(value);
        if (size >= 65520) { // half-way between the largest half and the next power of two
            return sign | INFINITY;
        }
        if (size < 0x1.0p-14) {
            return sign
                    | (int) Math.rint(
                            size * 0x1.0p24); // multiplying by a power of two is exact; 1024 is the smallest normal
        }
        int exponent = Math.getExponent(size);
        int fraction = (int) Math.rint(Math.scalb(size, 10 - exponent)); // 1024 to 2048; 2048 carries into the exponent
        return sign | (((exponent + 15) << 10) + (fraction - 1024));
    }
}
