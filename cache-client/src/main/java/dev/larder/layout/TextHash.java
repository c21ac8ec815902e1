package dev.larder.layout;

/**
 * Hashes the text keys of an index column: the CRC-32 of their UTF-8 bytes, as zlib's, made from the characters without
 * encoding them first. Four bytes at a time by four tables (M. Kounavis and F. Berry, A Systematic Approach to Building High
 * Performance Software-based CRC Generators, 2005) as long as characters are ASCII.
 */
public final class TextHash {
    private static final int POLYNOMIAL = 0xedb8_8320;
    private static final int[] TABLE_0 = new int[256];
    private static final int[] TABLE_1 = new int[256];
    private static final int[] TABLE_2 = new int[256];
    private static final int[] TABLE_3 = new int[256];
    private static final int ASCII = 0x80;

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
        }
    }

    private TextHash() {}

    /** Returns the hash, of 32 bits without a sign. Half a surrogate pair counts as a question mark. Allocates nothing. */
    public static long of(String text) {
        int length = text.length();
        int crc = -1;
        int i = 0;
        for (; i <= length - 4; i += 4) {
            int a = text.charAt(i);
            int b = text.charAt(i + 1);
            int c = text.charAt(i + 2);
            int d = text.charAt(i + 3);
            if ((a | b | c | d) >= ASCII) {
                break;
            }
            crc ^= a | (b << 8) | (c << 16) | (d << 24);
            crc = TABLE_3[crc & 0xff]
                    ^ TABLE_2[(crc >>> 8) & 0xff]
                    ^ TABLE_1[(crc >>> 16) & 0xff]
                    ^ TABLE_0[crc >>> 24];
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
