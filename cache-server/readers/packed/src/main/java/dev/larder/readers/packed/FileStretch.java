package dev.larder.readers.packed;

import dev.larder.reader.ReadProgress;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** Reads a stretch of a shared file. Closing it leaves the file open. */
final class FileStretch extends InputStream {
    private static final int STEP_BYTES = 128 << 10;

    private final FileChannel channel;
    private final ReadProgress progress;
    private final byte[] step;
    private long next;
    private final long end;
    private int at;
    private int limit;

    FileStretch(FileChannel channel, long offset, long byteSize, ReadProgress progress) {
        this.channel = channel;
        this.progress = progress;
        this.next = offset;
        this.end = offset + byteSize;
        this.step = new byte[(int) Math.min(STEP_BYTES, Math.max(1, byteSize))];
    }

    private boolean fill() throws IOException {
        if (at == limit && next < end) {
            int count = channel.read(ByteBuffer.wrap(step, 0, (int) Math.min(step.length, end - next)), next);
            at = 0;
            limit = Math.max(0, count);
            next += limit;
            progress.looked(limit);
        }
        return at < limit;
    }

    @Override
    public int read() throws IOException {
        return fill() ? step[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        } else if (!fill()) {
            return -1;
        }
        int count = Math.min(length, limit - at);
        System.arraycopy(step, at, target, offset, count);
        at += count;
        return count;
    }

    /** Returns the bytes left: unpackers detect the end of the stretch by it. */
    @Override
    public int available() {
        return (int) Math.min(Integer.MAX_VALUE, limit - at + end - next);
    }
}
