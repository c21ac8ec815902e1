package dev.larder.layout;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Identifies the contents of a version: the same arrays have the same digest on any machine.
 *
 * <p>SHA-256 over one line per array, sorted by the UTF-8 bytes of the name: {@code name NUL dtype NUL shape NUL order NUL
 * crc32c LF}, where shape is decimal numbers joined by commas and crc32c eight hex digits.
 */
public final class Digest {
    /** The length of a digest in bytes. */
    public static final int LENGTH = 32;

    private static final Comparator<ArrayEntry> BY_NAME_BYTES = (a, b) -> Arrays.compareUnsigned(
            a.name().getBytes(StandardCharsets.UTF_8), b.name().getBytes(StandardCharsets.UTF_8));

    private Digest() {}

    /** Computes the digest of a version's arrays, given in any order. */
    public static byte[] of(List<ArrayEntry> arrays) {
        MessageDigest sha = sha256();
        arrays.stream().sorted(BY_NAME_BYTES).forEach(array -> sha.update(line(array)));
        return sha.digest();
    }

    /** Writes a digest as people and listings see it. */
    public static String hex(byte[] digest) {
        return HexFormat.of().formatHex(digest);
    }

    private static byte[] line(ArrayEntry array) {
        String shape = LongStream.of(array.shape()).mapToObj(Long::toString).collect(Collectors.joining(","));
        String line = String.join(
                "\0", array.name(), array.dtype(), shape, Character.toString(array.order()), array.crc32cHex());
        return (line + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
