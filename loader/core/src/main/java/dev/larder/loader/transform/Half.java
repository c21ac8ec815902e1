package dev.larder.loader.transform;

/** Converts IEEE 754 half-precision numbers, rounding to the nearest, ties to even, as numpy does. */
final class Half {
    private static final int SIGN = 0x8000;
    private static final int INFINITY = 0x7c00;
    private static final int QUIET = 0x0200;

    private Half() {}

    /** Returns the number that 16 bits stand for; every one is a float. */
    static float toFloat(int bits) {
        int exponent = (bits >>> 10) & 0x1f;
        int fraction = bits & 0x3ff;
        int sign = (bits & SIGN) << 16;
        if (exponent == 0) {
            float subnormal = fraction * 0x1.0p-24f;
            return sign == 0 ? subnormal : -subnormal;
        }
        int wide = exponent == 0x1f ? 0x7f80_0000 : (exponent + 112) << 23;
        return Float.intBitsToFloat(sign | wide | (fraction << 13));
    }

    /** Returns the bits of the half nearest to a float. */
    static int ofFloat(float value) {
        if (Float.isNaN(value)) {
            int bits = Float.floatToRawIntBits(value);
            int fraction = (bits >>> 13) & 0x3ff;
            return ((bits >>> 16) & SIGN) | INFINITY | (fraction == 0 ? 1 : fraction);
        }
        return ofDouble(value);
    }

    /** Returns the bits of the half nearest to a double. */
    static int ofDouble(double value) {
        if (Double.isNaN(value)) {
            return ((int) (Double.doubleToRawLongBits(value) >>> 48) & SIGN) | INFINITY | QUIET;
        }
        int sign = (int) (Double.doubleToRawLongBits(value) >>> 48) & SIGN;
        double size = Math.abs(value);
        if (size >= 65520) { // half-way between the largest half and the power of two beyond it
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
