package dev.larder.server.source;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Objects;

/** Reads a region of a file that others may read at the same time; closing it closes the file. */
public final class ExtentStream extends InputStream {
    private final FileChannel channel;
    private final long end;
    private long at;

    public ExtentStream(FileChannel channel, long offset, long byteSize) {
        this.channel = channel;
        this.at = offset;
        this.end = offset + byteSize;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        int wanted = (int) Math.min(length, end - at);
        int read = wanted == 0 ? -1 : channel.read(ByteBuffer.wrap(target, offset, wanted), at);
        at += Math.max(0, read);
        return read;
    }

    /** Returns how many bytes are left, so that gzip looks for another member. */
    @Override
    public int available() {
        return (int) Math.min(Integer.MAX_VALUE, end - at);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    /** Returns how many bytes of the region have not been read. */
    public long remaining() {
        return end - at;
    }
}
