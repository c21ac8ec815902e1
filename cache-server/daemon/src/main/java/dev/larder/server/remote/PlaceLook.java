package dev.larder.server.remote;

import dev.larder.internal.layout.Digest;
import dev.larder.reader.Answer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.UUID;

/** Hashes the list of a place: names, lengths, times and tags. */
final class PlaceLook {
    private static final int KEPT_BYTES = 8;

    private PlaceLook() {}

    /** Returns a few hex digits. They differ each time if an object has neither a tag nor a time, because it may have changed. */
    static String of(StagedPlace place) {
        MessageDigest digest = Digest.sha256();
        for (StagedPlace.Numbered object : place.objects().values()) {
            Answer.ListedObject listed = object.listed();
            boolean isKnown = !listed.tag().isEmpty() || listed.modifiedNanos() != 0;
            update(digest, listed);
            digest.update(text(isKnown ? "" : UUID.randomUUID().toString()));
        }
        return hex(digest);
    }

    static String both(String one, String other) {
        MessageDigest digest = Digest.sha256();
        digest.update(text(one + other));
        return hex(digest);
    }

    /** Returns a number that identifies a state of an object. */
    static long number(Answer.ListedObject listed) {
        MessageDigest digest = Digest.sha256();
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
}
