package dev.larder.distributed.rendezvous;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** Makes keys of meetings, and digests of what tells jobs apart. */
final class Keys {
    /** How many bytes a key and a digest have; a key is written in hexadecimal digits. */
    static final int BYTES = 16;

    private static final SecureRandom RANDOM = new SecureRandom();

    private Keys() {}

    static byte[] random() {
        byte[] key = new byte[BYTES];
        RANDOM.nextBytes(key);
        return key;
    }

    /** Digests texts, so that no two lists of texts that differ have one digest. */
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
