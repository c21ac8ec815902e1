package dev.larder.loader.fanout;

import dev.larder.posix.BulkIo;
import dev.larder.posix.Posix;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The mapped file of a ring, in pieces that the JDK's buffers can address, little-endian.
 *
 * <p>Closing it puts pages of zeros in place of the file, so that a late reader lives; the addresses go back to the system when
 * neither this object nor a buffer made from it can be reached.
 */
final class RingMemory implements AutoCloseable {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final Cleaner CLEANER = Cleaner.create();

    private final Posix posix;
    private final long address;
    private final long byteSize;
    private final boolean writable;
    private final Unmapping unmapping;
    private final AtomicBoolean open = new AtomicBoolean(true);

    private RingMemory(Posix posix, long address, long byteSize, boolean writable) {
        this.posix = posix;
        this.address = address;
        this.byteSize = byteSize;
        this.writable = writable;
        this.unmapping = new Unmapping(posix, address, byteSize);
        unmapping.releaseWith(this);
    }

    /** Maps a file for reading; the descriptor can be closed. */
    static RingMemory readOnly(Posix posix, int descriptor, long byteSize) {
        return owned(posix, posix.mapReadOnly(descriptor, byteSize), byteSize, false);
    }

    /** Maps a file for writing, whose bytes are reserved; the descriptor can be closed. */
    static RingMemory writable(Posix posix, int descriptor, long byteSize) {
        return owned(posix, BulkIo.system().mapWritable(descriptor, byteSize), byteSize, true);
    }

    private static RingMemory owned(Posix posix, long address, long byteSize, boolean writable) {
        try {
            return new RingMemory(posix, address, byteSize, writable);
        } catch (RuntimeException | Error e) {
            posix.unmap(address, byteSize);
            throw e;
        }
    }

    /** Returns a part as a buffer, which keeps the addresses valid. */
    ByteBuffer buffer(long offset, long length) {
        if (offset < 0 || length < 0 || offset > byteSize - length) {
            throw new IndexOutOfBoundsException("offset " + offset + " length " + length + " of " + byteSize);
        }
        ByteBuffer buffer = posix.bufferOver(address + offset, Math.toIntExact(length));
        unmapping.releaseWith(buffer);
        return (writable ? buffer : buffer.asReadOnlyBuffer()).order(ByteOrder.LITTLE_ENDIAN);
    }

    static long longAcquire(ByteBuffer buffer, int offset) {
        return (long) LONGS.getAcquire(buffer, offset);
    }

    static void longRelease(ByteBuffer buffer, int offset, long value) {
        LONGS.setRelease(buffer, offset, value);
    }

    static int intAcquire(ByteBuffer buffer, int offset) {
        return (int) INTS.getAcquire(buffer, offset);
    }

    static void intRelease(ByteBuffer buffer, int offset, int value) {
        INTS.setRelease(buffer, offset, value);
    }

    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            posix.replaceWithZeros(address, byteSize);
        }
    }

    /** Gives the addresses back once nothing that was registered can be reached any more. */
    private static final class Unmapping implements Runnable {
        private final Posix posix;
        private final long address;
        private final long byteSize;
        private final AtomicInteger reachable = new AtomicInteger();

        Unmapping(Posix posix, long address, long byteSize) {
            this.posix = posix;
            this.address = address;
            this.byteSize = byteSize;
        }

        void releaseWith(Object user) {
            reachable.incrementAndGet();
            CLEANER.register(user, this);
        }

        @Override
        public void run() {
            if (reachable.decrementAndGet() == 0) {
                posix.unmap(address, byteSize);
            }
        }
    }
}
