package dev.larder.internal.view;

import dev.larder.internal.posix.RawMemory;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.nio.charset.StandardCharsets;

/** Reads texts of fixed length, without numpy's zero padding. */
public final class Texts {
    private static final int REPLACEMENT = 0xfffd;

    private Texts() {}

    /** Returns whether elements of a dtype are texts. */
    public static boolean isText(Dtype dtype) {
        return dtype.kind() == Kind.BYTES || dtype.kind() == Kind.UNICODE;
    }

    /** Returns the text at an address. Invalid parts become U+FFFD. */
    public static String read(Dtype dtype, long address) {
        if (dtype.kind() == Kind.BYTES) {
            return utf8(address, dtype.itemSize());
        } else if (dtype.kind() == Kind.UNICODE) {
            return utf32(address, dtype.itemSize() / Integer.BYTES, !dtype.isLittleEndian());
        }
        throw new IllegalArgumentException("dtype=" + dtype);
    }

    private static String utf8(long address, int length) {
        int end = length;
        while (end > 0 && RawMemory.getByte(address + end - 1) == 0) {
            end--;
        }
        byte[] bytes = new byte[end];
        for (int i = 0; i < end; i++) {
            bytes[i] = RawMemory.getByte(address + i);
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static String utf32(long address, int length, boolean swapped) {
        int end = length;
        while (end > 0 && RawMemory.getInt(address + (end - 1L) * Integer.BYTES) == 0) {
            end--;
        }
        StringBuilder text = new StringBuilder(end);
        for (int i = 0; i < end; i++) {
            int value = RawMemory.getInt(address + (long) i * Integer.BYTES);
            int codePoint = swapped ? Integer.reverseBytes(value) : value;
            text.appendCodePoint(Character.isValidCodePoint(codePoint) ? codePoint : REPLACEMENT);
        }
        return text.toString();
    }
}
