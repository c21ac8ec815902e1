package dev.larder.server.source;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/**
 * Delivers exactly the data of a region. That nothing follows, and that a checksum of the packing is right, is proved
 * before the last byte is handed out: whoever got all bytes got good ones.
 */
public final class DataChannel implements ReadableByteChannel {
    private static final int STEP_BYTES = 64 << 10;

    private final Extent region;
    private final String what;
    private final InputStream in;
    private final byte[] step;
    private long delivered;
    private boolean open = true;

    /** Takes over a stream that stands at the data; {@code what} begins what is said about it, and may be empty. */
    public DataChannel(Extent region, String what, InputStream in) {
        this.region = region;
        this.what = what;
        this.in = in;
        this.step = new byte[(int) Math.min(STEP_BYTES, Math.max(1, region.byteSize()))];
        if (region.byteSize() == 0) {
            requireEnd();
        }
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        if (!target.hasRemaining()) {
            return 0;
        }
        int length = (int) Math.min(Math.min(step.length, target.remaining()), region.byteSize() - delivered);
        if (length == 0) {
            return -1;
        }
        int read = next(length);
        if (read < 0) {
            throw Refusal.of(
                    region.file(),
                    region.offset() + delivered,
                    what + "it ends after " + delivered + " of " + region.byteSize() + " bytes of data");
        }
        delivered += read;
        if (delivered == region.byteSize()) {
            requireEnd();
        }
        target.put(step, 0, read);
        return read;
    }

    private int next(int length) {
        try {
            return in.read(step, 0, length);
        } catch (IOException e) {
            throw Refusal.unreadable(region.file(), region.offset() + delivered, what, e);
        }
    }

    private void requireEnd() {
        try {
            if (in.read() < 0) {
                return;
            }
        } catch (IOException e) {
            throw Refusal.unreadable(region.file(), region.offset() + delivered, what, e);
        }
        throw Refusal.of(
                region.file(), region.offset() + delivered, what + "more follows the " + delivered + " bytes of data");
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void close() throws IOException {
        open = false;
        in.close();
    }
}
