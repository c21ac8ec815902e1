package dev.larder.server.ingest;

import dev.larder.internal.layout.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** Hashes texts and numbers to 63 bits. */
final class LookHash {
    private final MessageDigest digest = Digest.sha256();
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);

    LookHash add(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        add(bytes.length);
        digest.update(bytes);
        return this;
    }

    LookHash add(long value) {
        digest.update(number.putLong(0, value).array());
        return this;
    }

    /** Returns the hash, never negative. Nothing can be added afterwards. */
    long value() {
        return ByteBuffer.wrap(digest.digest()).getLong() & Long.MAX_VALUE;
    }
}
