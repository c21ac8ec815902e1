package dev.larder.distributed.internal.meeting;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** Creates keys of meetings, and digests of the names of jobs. */
final class Keys {
    /** The length of a key and of a digest; the text of a key is hexadecimal. */
    static final int BYTES = 16;

    private static final SecureRandom RANDOM = new SecureRandom();

    private Keys() {}

    static byte[] random() {
        byte[] key = new byte[BYTES];
        RANDOM.nextBytes(key);
        return key;
    }

    /** Returns the digest of a list of texts; different lists have different digests. */
    static byte[] digest(List<String> texts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (String text : texts) {
                byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
                digest.update((bytes.length + ":").getBytes(StandardCharsets.UTF_8));
                digest.update(bytes);
            }
            return Arrays.copyOf(digest.digest(), BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    static String text(byte[] key) {
        return HexFormat.of().formatHex(key);
    }
}
