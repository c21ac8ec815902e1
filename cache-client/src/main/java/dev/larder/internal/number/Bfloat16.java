package dev.larder.internal.number;

/** Converts bfloat16 numbers, which are the upper halves of floats. Rounds to nearest, ties to even. */
public final class Bfloat16 {
    private static final int QUIET = 0x0040;

    private Bfloat16() {}

    /** Returns the float with the value of these 16 bits. The conversion is exact. */
    public static float toFloat(int bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** Returns the bits of the bfloat16 nearest to a float. */
    public static int ofFloat(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (bits >>> 16) | QUIET; // keeps NaN if only the lower half marks it
        }
        return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
    }
}
