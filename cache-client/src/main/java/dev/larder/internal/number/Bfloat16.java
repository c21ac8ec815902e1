package dev.larder.internal.number;

/** Converts bfloat16 numbers, the upper halves of floats, rounding to the nearest, ties to even. */
public final class Bfloat16 {
    private static final int QUIET = 0x0040;

    private Bfloat16() {}

    /** Returns the number that 16 bits stand for; every one is a float. */
    public static float toFloat(int bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** Returns the bits of the bfloat16 nearest to a float. */
    public static int ofFloat(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (bits >>> 16) | QUIET; // the lower half may be all that makes it NaN
        }
        return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
    }
}
