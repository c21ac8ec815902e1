package dev.larder.distributed.internal.memory;

import dev.larder.internal.posix.InterProcess;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.RawMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * Mapped memory that other processes write at the same time. Every access is checked against its length; offsets of shared words are
 * multiples of their size. Thread-safe like the memory itself: plain accesses race, and the others are ordered by their names.
 *
 * <p>Closing it replaces the shared pages by private pages of zeros, so that a late thread does no harm. The addresses return to the system
 * when neither this object nor a buffer over it can be reached.
 */
public final class SharedMemory implements AutoCloseable {
    private final InterProcess calls = InterProcess.system();
    private final MappedMemory mapped;
    private final long dataOffset;
    private final long address;
    private final long byteSize;

    private SharedMemory(MappedMemory mapped, long dataOffset) {
        this.mapped = mapped;
        this.dataOffset = dataOffset;
        this.address = mapped.address() + dataOffset;
        this.byteSize = mapped.byteSize() - dataOffset;
    }

    /** Maps a file whose bytes are reserved; offsets count from {@code dataOffset}. The caller closes the descriptor. */
    public static SharedMemory map(int descriptor, long byteSize, long dataOffset) {
        return new SharedMemory(MappedMemory.writable(Posix.system(), descriptor, byteSize), dataOffset);
    }

    /** Returns the number of bytes. */
    public long byteSize() {
        return byteSize;
    }

    /** Returns whether it is closed. */
    public boolean isClosed() {
        return !mapped.isOpen();
    }

    /**
     * Returns the address of bytes, checked once for code that then works without checks. It is valid while this object or a {@link
     * #buffer} can be reached ({@link Reference#reachabilityFence}), and reads zeros after closing.
     */
    public long address(long offset, long length) {
        MappedMemory.requireWithin(offset, length, byteSize);
        return address + offset;
    }

    private long word(long offset, int length) {
        if ((offset & (length - 1)) != 0) {
            throw new IllegalArgumentException("not a multiple of " + length + ": offset " + offset);
        }
        return address(offset, length);
    }

    /** Returns bytes as a buffer, little-endian, at most 2 GiB. The buffer keeps the addresses valid. */
    public ByteBuffer buffer(long offset, long length) {
        MappedMemory.requireWithin(offset, length, byteSize);
        return mapped.buffer(dataOffset + offset, length);
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

    /** Reads four bytes with volatile semantics. */
    public int getIntVolatile(long offset) {
        return RawMemory.getIntVolatile(word(offset, Integer.BYTES));
    }

    /** Writes four bytes with volatile semantics. */
    public void putIntVolatile(long offset, int value) {
        RawMemory.putIntVolatile(word(offset, Integer.BYTES), value);
    }

    /** Reads eight bytes with volatile semantics. */
    public long getLongVolatile(long offset) {
        return RawMemory.getLongVolatile(word(offset, Long.BYTES));
    }

    /** Writes eight bytes with volatile semantics. */
    public void putLongVolatile(long offset, long value) {
        RawMemory.putLongVolatile(word(offset, Long.BYTES), value);
    }

    /** Writes four bytes atomically if they have the expected value; false if they have not. */
    public boolean compareAndSetInt(long offset, int expected, int value) {
        return RawMemory.compareAndSetInt(word(offset, Integer.BYTES), expected, value);
    }

    /** Writes eight bytes atomically if they have the expected value; false if they have not. */
    public boolean compareAndSetLong(long offset, long expected, long value) {
        return RawMemory.compareAndSetLong(word(offset, Long.BYTES), expected, value);
    }

    /** Adds to four bytes atomically, and returns the value before. */
    public int getAndAddInt(long offset, int delta) {
        return RawMemory.getAndAddInt(word(offset, Integer.BYTES), delta);
    }

    /** Adds to eight bytes atomically, and returns the value before. */
    public long getAndAddLong(long offset, long delta) {
        return RawMemory.getAndAddLong(word(offset, Long.BYTES), delta);
    }

    /** Sleeps while four bytes have a value: until {@link #wake}, until the timeout, or spuriously; see {@link InterProcess}. */
    public void sleepWhile(long offset, int expected, long timeoutNs) {
        calls.sleepWhile(word(offset, Integer.BYTES), expected, timeoutNs);
    }

    /** Wakes up to {@code count} sleepers at four bytes, of any process, and returns their number. */
    public int wake(long offset, int count) {
        return calls.wake(word(offset, Integer.BYTES), count);
    }

    /** Idempotent. Sleepers continue at their timeout. */
    @Override
    public void close() {
        mapped.close();
    }
}
