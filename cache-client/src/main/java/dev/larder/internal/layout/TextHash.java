package dev.larder.internal.layout;

/**
 * Hashes the text keys of an index column: the CRC-32 of their UTF-8 bytes, as in zlib, computed from the characters without
 * encoding them. As long as the characters are ASCII, eight tables process eight bytes at a time (M. Kounavis and F. Berry, A
 * Systematic Approach to Building High Performance Software-based CRC Generators, 2005).
 */
public final class TextHash {
    private static final int POLYNOMIAL = 0xedb8_8320;
    private static final int[] TABLE_0 = new int[256];
    private static final int[] TABLE_1 = new int[256];
    private static final int[] TABLE_2 = new int[256];
    private static final int[] TABLE_3 = new int[256];
    private static final int[] TABLE_4 = new int[256];
    private static final int[] TABLE_5 = new int[256];
    private static final int[] TABLE_6 = new int[256];
    private static final int[] TABLE_7 = new int[256];
    private static final int ASCII = 0x80;

    /** A value that no eight ASCII characters have. */
    public static final long NOT_ASCII = -1;

    static {
        for (int i = 0; i < TABLE_0.length; i++) {
            int crc = i;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                crc = (crc >>> 1) ^ (-(crc & 1) & POLYNOMIAL);
            }
            TABLE_0[i] = crc;
        }
        for (int i = 0; i < TABLE_0.length; i++) {
            TABLE_1[i] = step(TABLE_0[i], 0);
            TABLE_2[i] = step(TABLE_1[i], 0);
            TABLE_3[i] = step(TABLE_2[i], 0);
            TABLE_4[i] = step(TABLE_3[i], 0);
            TABLE_5[i] = step(TABLE_4[i], 0);
            TABLE_6[i] = step(TABLE_5[i], 0);
            TABLE_7[i] = step(TABLE_6[i], 0);
        }
    }

    private TextHash() {}

    /** Returns the unsigned 32-bit hash. An unpaired surrogate counts as a question mark. Allocates nothing. */
    public static long of(String text) {
        int length = text.length();
        int crc = -1;
        int i = 0;
        for (; i <= length - Long.BYTES; i += Long.BYTES) {
            long next = eightOf(text, i);
            if (next == NOT_ASCII) {
                break;
            }
            crc = step(crc, next);
        }
        for (; i < length; i++) {
            char c = text.charAt(i);
            if (c < ASCII) {
                crc = step(crc, c);
            } else {
                int codePoint = text.codePointAt(i);
                crc = encoded(crc, codePoint);
                i += Character.charCount(codePoint) - 1;
            }
        }
        return ~crc & 0xffff_ffffL;
    }

    /** Returns eight characters as bytes, the first in the lowest byte, or {@link #NOT_ASCII} if any is not ASCII. */
    public static long eightOf(String text, int from) {
        int a = text.charAt(from);
        int b = text.charAt(from + 1);
        int c = text.charAt(from + 2);
        int d = text.charAt(from + 3);
        int e = text.charAt(from + 4);
        int f = text.charAt(from + 5);
        int g = text.charAt(from + 6);
        int h = text.charAt(from + 7);
        if ((a | b | c | d | e | f | g | h) >= ASCII) {
            return NOT_ASCII;
        }
        int low = a | (b << 8) | (c << 16) | (d << 24);
        int high = e | (f << 8) | (g << 16) | (h << 24);
        return (low & 0xffff_ffffL) | ((long) high << 32);
    }

    private static int step(int crc, long eight) {
        int low = crc ^ (int) eight;
        int high = (int) (eight >>> 32);
        return TABLE_7[low & 0xff]
                ^ TABLE_6[(low >>> 8) & 0xff]
                ^ TABLE_5[(low >>> 16) & 0xff]
                ^ TABLE_4[low >>> 24]
                ^ TABLE_3[high & 0xff]
                ^ TABLE_2[(high >>> 8) & 0xff]
                ^ TABLE_1[(high >>> 16) & 0xff]
                ^ TABLE_0[high >>> 24];
    }

    private static int encoded(int crc, int codePoint) {
        if (codePoint < 0x800) {
            return step(step(crc, 0xc0 | (codePoint >> 6)), tail(codePoint));
        } else if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
            return step(crc, '?');
        } else if (codePoint < Character.MIN_SUPPLEMENTARY_CODE_POINT) {
            return step(step(step(crc, 0xe0 | (codePoint >> 12)), tail(codePoint >> 6)), tail(codePoint));
        }
        int high = step(step(crc, 0xf0 | (codePoint >> 18)), tail(codePoint >> 12));
        return step(step(high, tail(codePoint >> 6)), tail(codePoint));
    }

    private static int tail(int bits) {
        return 0x80 | (bits & 0x3f);
    }

    private static int step(int crc, int next) {
        return (crc >>> 8) ^ TABLE_0[(crc ^ next) & 0xff];
    }
}
