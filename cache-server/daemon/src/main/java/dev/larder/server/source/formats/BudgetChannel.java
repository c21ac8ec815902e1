package dev.larder.server.source.formats;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import java.util.zip.ZipException;

/**
 * Reads a file for a library that stores in memory all that it reads. At first it allows only a number of bytes that fits the memory. The caller
 * closes the channel of the file.
 */
final class BudgetChannel implements SeekableByteChannel {
    /** The directory of some 100,000 members. */
    static final long BUDGET_BYTES = 12 << 20;

    private final FileChannel channel;
    private long budget = BUDGET_BYTES;

    BudgetChannel(FileChannel channel) {
        this.channel = channel;
    }

    /** Ends the limit. */
    void lift() {
        budget = Long.MAX_VALUE;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        int read = channel.read(target);
        budget -= Math.max(0, read);
        if (budget < 0) {
            throw new ZipException("its directory is longer than " + BUDGET_BYTES + " bytes");
        }
        return read;
    }

    @Override
    public long position() throws IOException {
        return channel.position();
    }

    @Override
    public SeekableByteChannel position(long newPosition) throws IOException {
        channel.position(newPosition);
        return this;
    }

    @Override
    public long size() throws IOException {
        return channel.size();
    }

    @Override
    public int write(ByteBuffer source) {
        throw new NonWritableChannelException();
    }

    @Override
    public SeekableByteChannel truncate(long size) {
        throw new NonWritableChannelException();
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    public void close() {
        // the channel is used further
    }
}
