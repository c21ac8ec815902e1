package dev.larder.server.source;

import dev.larder.error.LarderException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * Reads exactly the bytes of a region from a stream. Before it returns the last of them, it checks that nothing follows, and so that a checksum at
 * the end of the stream is right.
 */
public final class DataChannel extends BlockChannel {
    private static final int STEP_BYTES = 64 << 10;

    private final Extent region;
    private final String part;
    private final InputStream in;
    private long delivered;

    /**
     * Reads a stream from its first byte on, and closes it.
     *
     * @param part the beginning of reasons to refuse the data; may be empty
     */
    public DataChannel(Extent region, String part, InputStream in) {
        super((int) Math.min(STEP_BYTES, Math.max(1, region.byteSize())), in);
        this.region = region;
        this.part = part;
        this.in = in;
        if (region.byteSize() == 0) {
            requireEnd();
        }
    }

    @Override
    protected void fill(ByteBuffer empty) {
        int length = (int) Math.min(empty.remaining(), region.byteSize() - delivered);
        if (length == 0) {
            return;
        }
        int read = read(empty, length);
        if (read < 0) {
            throw refusal("it ends after " + delivered + " of " + region.byteSize() + " bytes of data");
        }
        delivered += read;
        empty.position(read);
        if (delivered == region.byteSize()) {
            requireEnd();
        }
    }

    private int read(ByteBuffer target, int length) {
        try {
            return in.read(target.array(), target.arrayOffset(), length);
        } catch (IOException e) {
            throw Refusal.unreadable(region.file(), region.offset() + delivered, part, e);
        }
    }

    private void requireEnd() {
        if (read(ByteBuffer.allocate(1), 1) >= 0) {
            throw refusal("more follows the " + delivered + " bytes of data");
        }
    }

    private LarderException refusal(String reason) {
        return Refusal.of(region.file(), region.offset() + delivered, part + reason);
    }
}
