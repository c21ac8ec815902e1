package dev.larder.loader.internal.sample;

import java.nio.ByteBuffer;
import java.util.function.IntToLongFunction;
import java.util.zip.CRC32C;

/** Computes a checksum of numbers, for descriptions. */
public final class Fingerprint {
    private static final int CHUNK_BYTES = 1 << 13;

    private Fingerprint() {}

    /** Returns the CRC32C of numbers, each taken as 8 bytes, as 8 hex digits. */
    public static String of(int count, IntToLongFunction number) {
        CRC32C crc = new CRC32C();
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES);
        for (int i = 0; i < count; i++) {
            chunk.putLong(number.applyAsLong(i));
            if (!chunk.hasRemaining()) {
                crc.update(chunk.flip());
                chunk.clear();
            }
        }
        crc.update(chunk.flip());
        return String.format("%08x", crc.getValue());
    }
}
