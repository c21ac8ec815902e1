package dev.larder.npy;

import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;

/** Reads headers from memory. */
final class Bytes {
    private Bytes() {}

    static byte[] of(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    static NpyHeader header(byte[] bytes, String name) {
        return NpyHeader.read(Channels.newChannel(new ByteArrayInputStream(bytes)), name);
    }
}
