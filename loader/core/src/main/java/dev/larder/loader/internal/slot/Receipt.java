package dev.larder.loader.internal.slot;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A digest of samples at their positions in an epoch.
 *
 * <p>It is a sum modulo 2^64, with a term for each sample, which its position and its row determine. So ranks compute it apart, in any
 * order, and it does not depend on their number; samples that change places change it. A term of the dataset's digest is added. It
 * detects accidents, not forgery. {@code ops/docs/reference/FORMAT.md} defines it for other languages.
 *
 * @param visited the sum for the visited samples
 * @param skipped the sum for those that could not be read and were skipped; they count as visited
 */
public record Receipt(long visited, long skipped) {
    /** The receipt of no samples. */
    public static final Receipt NONE = new Receipt(0, 0);

    private static final long POSITION = 0x9e3779b97f4a7c15L;
    private static final long ROW = 0xd1342543de82ef95L;
    private static final int HEX = 16;
    private static final Pattern TEXT = Pattern.compile("(\\p{XDigit}{16})(?:-(\\p{XDigit}{16}))?");

    /** Returns the start of a receipt of samples from a dataset. */
    public static Receipt ofDataset(String digest) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(digest.getBytes(StandardCharsets.UTF_8));
            return new Receipt(ByteBuffer.wrap(hash).getLong(), 0);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }

    /** Parses a text of {@link #toString}; fails with {@link IllegalArgumentException} on any other. */
    public static Receipt parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("not a receipt: " + text);
        }
        String skipped = matcher.group(2);
        return new Receipt(
                Long.parseUnsignedLong(matcher.group(1), HEX),
                skipped == null ? 0 : Long.parseUnsignedLong(skipped, HEX));
    }

    /** Returns the term of one sample. */
    public static long term(long position, long row) {
        long bits = (position + 1) * POSITION + row * ROW;
        bits = (bits ^ (bits >>> 30)) * 0xbf58476d1ce4e5b9L; // the finalizer of SplitMix64
        bits = (bits ^ (bits >>> 27)) * 0x94d049bb133111ebL;
        return bits ^ (bits >>> 31);
    }

    public Receipt plus(Receipt other) {
        return new Receipt(visited + other.visited, skipped + other.skipped);
    }

    public Receipt minus(Receipt other) {
        return new Receipt(visited - other.visited, skipped - other.skipped);
    }

    /** Returns 16 hex digits; after skipped samples, a hyphen and 16 more. */
    @Override
    public String toString() {
        return hex(visited) + (skipped == 0 ? "" : "-" + hex(skipped));
    }

    private static String hex(long bits) {
        String digits = Long.toHexString(bits);
        return "0".repeat(HEX - digits.length()) + digits;
    }
}
