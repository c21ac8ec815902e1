package dev.larder.server.source.shard;

import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.version.ShardRecord;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.util.Arrays;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;

/** Reads an array from the start to the end, little-endian, and computes its checksum. */
final class WholeStream implements AutoCloseable {
    private static final int STEP_BYTES = 64 << 10;

    private final SourceArray array;
    private final CRC32C crc = new CRC32C();
    private final DataInputStream in;

    WholeStream(SourceArray array) {
        this.array = array;
        InputStream checked = new CheckedInputStream(Channels.newInputStream(array.open()), crc);
        this.in = new DataInputStream(new BufferedInputStream(checked, STEP_BYTES));
    }

    /** Returns the record of the whole of an array that is cut. */
    static ShardRecord.Whole whole(SourceArray array) {
        try (WholeStream stream = new WholeStream(array)) {
            return whole(array, stream.crc32c());
        }
    }

    static ShardRecord.Whole whole(SourceArray array, int crc32c) {
        return ShardRecord.Whole.of(Arrays.stream(array.shape()).boxed().toList(), crc32c);
    }

    long nextLong() {
        try {
            return Long.reverseBytes(in.readLong());
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    int nextInt() {
        try {
            return Integer.reverseBytes(in.readInt());
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    byte[] next(int length) {
        if (length < 0) {
            throw unreadable(new EOFException());
        }
        try {
            byte[] bytes = in.readNBytes(length);
            if (bytes.length < length) {
                throw new EOFException();
            }
            return bytes;
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /** Reads the rest, and returns the checksum of the whole array. */
    int crc32c() {
        try {
            in.transferTo(OutputStream.nullOutputStream());
            return (int) crc.getValue();
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private RuntimeException unreadable(IOException reason) {
        return reason instanceof EOFException
                ? Refusal.of(array.file(), 0, "it ends early: array=" + array.name())
                : Refusal.unreadable(array.file(), 0, reason);
    }

    @Override
    public void close() {
        try {
            in.close();
        } catch (IOException e) {
            throw unreadable(e);
        }
    }
}
