package dev.larder.distributed.region;

import dev.larder.posix.BulkIo;
import dev.larder.posix.InterProcess;
import dev.larder.posix.Posix;
import dev.larder.posix.RawMemory;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Mapped memory that other processes write at the same time. Every access is checked against its length; offsets of shared words are
 * multiples of their size. Thread-safe as the memory itself is: plain accesses race, the others are ordered as their names say.
 *
 * <p>Closing it puts private pages of zeros in place of what was shared, so that a thread which comes too late harms nobody; the
 * addresses go back to the system when neither this object nor a buffer over it can be reached.
 */
public final class SharedMemory implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    private final InterProcess calls;
    private final long mapped;
    private final long mappedByteSize;
    private final long address;
    private final long byteSize;
    private final Unmapping unmapping;
    private final AtomicBoolean open = new AtomicBoolean(true);

    private SharedMemory(long mapped, long mappedByteSize, long dataOffset) {
        this.calls = InterProcess.system();
        this.mapped = mapped;
        this.mappedByteSize = mappedByteSize;
        this.address = mapped + dataOffset;
        this.byteSize = mappedByteSize - dataOffset;
        this.unmapping = new Unmapping(mapped, mappedByteSize);
        unmapping.releaseWith(this);
    }

    /** Maps a file whose bytes are reserved; offsets count from {@code dataOffset} on. The descriptor can be closed. */
    static SharedMemory map(int descriptor, long byteSize, long dataOffset) {
        long mapped = BulkIo.system().mapWritable(descriptor, byteSize);
        try {
            return new SharedMemory(mapped, byteSize, dataOffset);
        } catch (RuntimeException | Error e) {
            Posix.system().unmap(mapped, byteSize);
            throw e;
        }
    }

    /** Returns how many bytes there are. */
    public long byteSize() {
        return byteSize;
    }

    /** Tells whether it was closed. */
    public boolean isClosed() {
        return !open.get();
    }

    /**
     * Returns the address of some bytes, checked once for those who then work without checks. It stays valid while this object or a
     * {@link #buffer} can be reached ({@link Reference#reachabilityFence}), and reads zeros after closing.
     */
    public long address(long offset, long length) {
        if (offset < 0 || length < 0 || offset > byteSize - length) {
            throw new IndexOutOfBoundsException("offset " + offset + " length " + length + " of " + byteSize);
        }
        return address + offset;
    }

    private long word(long offset, int length) {
        if ((offset & (length - 1)) != 0) {
            throw new IllegalArgumentException("not a multiple of " + length + ": offset " + offset);
        }
        return address(offset, length);
    }

    /** Returns some bytes as a buffer, little-endian, at most 2 GiB; it keeps the addresses valid. */
    public ByteBuffer buffer(long offset, long length) {
        try {
            ByteBuffer buffer = Posix.system().bufferOver(address(offset, length), Math.toIntExact(length));
            unmapping.releaseWith(buffer);
            return buffer.order(ByteOrder.LITTLE_ENDIAN);
        } finally {
            Reference.reachabilityFence(this); // or the addresses were given back before the buffer kept them
        }
    }

    /** Reads four bytes. */
    public int getInt(long offset) {
        return RawMemory.getInt(address(offset, Integer.BYTES));
    }

    /** Writes four bytes. */
    public void putInt(long offset, int value) {
        RawMemory.putInt(address(offset, Integer.BYTES), value);
    }

    /** Reads eight bytes. */
    public long getLong(long offset) {
        return RawMemory.getLong(address(offset, Long.BYTES));
    }

    /** Writes eight bytes. */
    public void putLong(long offset, long value) {
        RawMemory.putLong(null, address(offset, Long.BYTES), value);
    }

    /** Reads four bytes as a volatile field is read. */
    public int getIntVolatile(long offset) {
        return RawMemory.getIntVolatile(word(offset, Integer.BYTES));
    }

    /** Writes four bytes as a volatile field is written. */
    public void putIntVolatile(long offset, int value) {
        RawMemory.putIntVolatile(word(offset, Integer.BYTES), value);
    }

    /** Reads eight bytes as a volatile field is read. */
    public long getLongVolatile(long offset) {
        return RawMemory.getLongVolatile(word(offset, Long.BYTES));
    }

    /** Writes eight bytes as a volatile field is written. */
    public void putLongVolatile(long offset, long value) {
        RawMemory.putLongVolatile(word(offset, Long.BYTES), value);
    }

    /** Writes four bytes where they are as expected, in one step; false where they are not. */
    public boolean compareAndSetInt(long offset, int expected, int value) {
        return RawMemory.compareAndSetInt(word(offset, Integer.BYTES), expected, value);
    }

    /** Writes eight bytes where they are as expected, in one step; false where they are not. */
    public boolean compareAndSetLong(long offset, long expected, long value) {
        return RawMemory.compareAndSetLong(word(offset, Long.BYTES), expected, value);
    }

    /** Adds to four bytes in one step, and returns what they were. */
    public int getAndAddInt(long offset, int delta) {
        return RawMemory.getAndAddInt(word(offset, Integer.BYTES), delta);
    }

    /** Adds to eight bytes in one step, and returns what they were. */
    public long getAndAddLong(long offset, long delta) {
        return RawMemory.getAndAddLong(word(offset, Long.BYTES), delta);
    }

    /** Sleeps while four bytes are as expected: until {@link #wake}, until time is up, or for no reason; see {@link InterProcess}. */
    public void sleepWhile(long offset, int expected, long timeoutNs) {
        calls.sleepWhile(word(offset, Integer.BYTES), expected, timeoutNs);
    }

    /** Wakes up to so many of those who sleep at four bytes, of any process, and returns how many. */
    public int wake(long offset, int count) {
        return calls.wake(word(offset, Integer.BYTES), count);
    }

    /** Idempotent. Those who sleep in it go on when their time is up. */
    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            calls.replaceWithScratch(mapped, mappedByteSize);
        }
    }

    /** Gives the addresses back once nothing that was registered can be reached any more. */
    private static final class Unmapping implements Runnable {
        private final long address;
        private final long byteSize;
        private final AtomicInteger reachable = new AtomicInteger();

        Unmapping(long address, long byteSize) {
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
                Posix.system().unmap(address, byteSize);
            }
        }
    }
}
