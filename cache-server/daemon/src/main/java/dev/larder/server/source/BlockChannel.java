package dev.larder.server.source;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;

/** Reads bytes that are made block by block. Not thread-safe. */
public abstract class BlockChannel implements ReadableByteChannel {
    private final ByteBuffer block;
    private final Closeable source;
    private boolean open = true;

    /** Divides a source into blocks of at most this size. Owns the source. */
    protected BlockChannel(int blockBytes, Closeable source) {
        this.block =
                ByteBuffer.allocate(blockBytes).order(ByteOrder.LITTLE_ENDIAN).limit(0);
        this.source = source;
    }

    /** Puts at least one byte into an empty little-endian block on the heap, or none at the end. */
    protected abstract void fill(ByteBuffer empty) throws IOException;

    @Override
    public final int read(ByteBuffer target) throws IOException {
        if (!target.hasRemaining()) {
            return 0;
        }
        if (!block.hasRemaining()) {
            fill(block.clear());
            block.flip();
            if (!block.hasRemaining()) {
                return -1;
            }
        }
        int length = Math.min(block.remaining(), target.remaining());
        target.put(block.slice(block.position(), length));
        block.position(block.position() + length);
        return length;
    }

    @Override
    public final boolean isOpen() {
        return open;
    }

    @Override
    public final void close() throws IOException {
        open = false;
        source.close();
    }
}
