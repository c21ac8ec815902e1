package dev.larder.server.remote;

import dev.larder.reader.Answer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.UUID;

/** Condenses what was listed of a place: names, lengths, times and tags. */
final class PlaceLook {
    private static final int KEPT_BYTES = 8;

    private PlaceLook() {}

    /** Returns a few hex digits; others each time where an object has neither a tag nor a time, and so may have changed. */
    static String of(StagedPlace place) {
        MessageDigest digest = sha256();
        for (StagedPlace.Numbered object : place.objects().values()) {
            Answer.ListedObject listed = object.listed();
            boolean isKnown = !listed.tag().isEmpty() || listed.modifiedNanos() != 0;
            update(digest, listed);
            digest.update(text(isKnown ? "" : UUID.randomUUID().toString()));
        }
        return hex(digest);
    }

    static String both(String one, String other) {
        MessageDigest digest = sha256();
        digest.update(text(one + other));
        return hex(digest);
    }

    /** Returns a number that stands for what an object was. */
    static long number(Answer.ListedObject listed) {
        MessageDigest digest = sha256();
        update(digest, listed);
        return ByteBuffer.wrap(digest.digest()).getLong();
    }

    private static void update(MessageDigest digest, Answer.ListedObject listed) {
        digest.update(text(listed.name() + "\0" + listed.tag() + "\0"));
        digest.update(ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(listed.byteSize())
                .putLong(listed.modifiedNanos())
                .flip());
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest(), 0, KEPT_BYTES);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
