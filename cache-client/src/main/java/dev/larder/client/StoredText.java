package dev.larder.client;

import dev.larder.internal.layout.TextHash;
import dev.larder.internal.posix.RawMemory;

/** Compares a string with UTF-8 in memory, character by character. Allocates nothing. */
final class StoredText {
    private static final int ASCII = 0x80;
    private static final int TWO_BYTES = 0x800;

    private StoredText() {}

    /** Returns whether checked memory contains exactly this text. An unpaired surrogate equals nothing. */
    static boolean equals(long address, int byteLength, String text) {
        int length = text.length();
        if (byteLength < length) {
            return false;
        }
        int i = 0;
        for (; i <= length - Long.BYTES; i += Long.BYTES) {
            long eight = TextHash.eightOf(text, i);
            if (eight == TextHash.NOT_ASCII) {
                break;
            }
            if (RawMemory.getLong(address + i) != eight) {
                return false;
            }
        }
        return equals(address + i, byteLength - i, text, i);
    }

    private static boolean equals(long address, int byteLength, String text, int from) {
        int at = 0;
        for (int i = from; i < text.length(); ) {
            char c = text.charAt(i);
            if (c < ASCII) {
                if (at >= byteLength || RawMemory.getByte(address + at) != c) {
                    return false;
                }
                at++;
                i++;
                continue;
            }
            int codePoint = text.codePointAt(i);
            int size = size(codePoint);
            if (at > byteLength - size || !isAt(address + at, codePoint, size)) {
                return false;
            }
            at += size;
            i += Character.charCount(codePoint);
        }
        return at == byteLength;
    }

    private static int size(int codePoint) {
        return codePoint < ASCII ? 1 : codePoint < TWO_BYTES ? 2 : Character.charCount(codePoint) + 2;
    }

    private static boolean isAt(long address, int codePoint, int size) {
        if (size == 1) {
            return RawMemory.getByte(address) == codePoint;
        } else if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
            return false;
        }
        int bits = codePoint;
        for (int i = size - 1; i > 0; i--) {
            if ((RawMemory.getByte(address + i) & 0xff) != (0x80 | (bits & 0x3f))) {
                return false;
            }
            bits >>>= 6;
        }
        int lead = ((0xff00 >>> size) & 0xff) | bits;
        return (RawMemory.getByte(address) & 0xff) == lead;
    }
}
