package dev.larder.internal.layout;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

/**
 * Identifies the contents of a version: the same arrays have the same digest on any machine.
 *
 * <p>SHA-256 over one line per array, sorted by the UTF-8 bytes of the name:
 * {@code name NUL dtype NUL shape NUL order NUL crc32c LF}. The shape is decimal numbers joined by commas, and crc32c eight hex
 * digits.
 */
public final class Digest {
    /** The length of a digest in bytes. */
    public static final int LENGTH = 32;

    private static final Comparator<ArrayEntry> BY_NAME_BYTES =
            Comparator.comparing(ArrayEntry::name, Digest::compareUtf8);

    private Digest() {}

    /** Computes the digest of a version's arrays, which may be in any order. */
    public static byte[] of(List<ArrayEntry> arrays) {
        MessageDigest sha = sha256();
        arrays.stream().sorted(BY_NAME_BYTES).forEach(array -> sha.update(line(array)));
        return sha.digest();
    }

    /** Returns a digest in hex, as in listings. */
    public static String hex(byte[] digest) {
        return HexFormat.of().formatHex(digest);
    }

    /** Compares two texts in the order of their UTF-8 bytes, which is the order of code points: surrogates come after all other chars. */
    private static int compareUtf8(String a, String b) {
        int length = Math.min(a.length(), b.length());
        for (int i = 0; i < length; i++) {
            char left = a.charAt(i);
            char right = b.charAt(i);
            if (left != right) {
                boolean isSurrogate = Character.isSurrogate(left);
                return isSurrogate == Character.isSurrogate(right)
                        ? Character.compare(left, right)
                        : Boolean.compare(isSurrogate, !isSurrogate);
            }
        }
        return Integer.compare(a.length(), b.length());
    }

    private static byte[] line(ArrayEntry array) {
        StringBuilder line = new StringBuilder(array.name()).append('\0').append(array.dtype());
        char separator = '\0';
        for (long dimension : array.shape()) {
            line.append(separator).append(dimension);
            separator = ',';
        }
        if (separator == '\0') {
            line.append(separator); // also before the empty shape of a single value
        }
        line.append('\0').append(array.order()).append('\0').append(array.crc32cHex());
        return line.append('\n').toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Returns a digest by SHA-256. */
    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
