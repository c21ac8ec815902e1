package dev.larder.distributed.internal.memory;

import dev.larder.internal.posix.InterProcess;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.RawMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * Mapped memory that other processes write at the same time. Every access is checked against its length; offsets of shared words are
 * multiples of their size. Thread-safe as the memory itself is: plain accesses race, the others are ordered as their names say.
 *
 * <p>Closing it puts private pages of zeros in place of what was shared, so that a thread which comes too late harms nobody; the
 * addresses go back to the system when neither this object nor a buffer over it can be reached.
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

    /** Maps a file whose bytes are reserved; offsets count from {@code dataOffset} on. The descriptor can be closed. */
    public static SharedMemory map(int descriptor, long byteSize, long dataOffset) {
        return new SharedMemory(MappedMemory.writable(Posix.system(), descriptor, byteSize), dataOffset);
    }

    /** Returns how many bytes there are. */
    public long byteSize() {
        return byteSize;
    }

    /** Tells whether it was closed. */
    public boolean isClosed() {
        return !mapped.isOpen();
    }

    /**
     * Returns the address of some bytes, checked once for those who then work without checks. It stays valid while this object or a
     * {@link #buffer} can be reached ({@link Reference#reachabilityFence}), and reads zeros after closing.
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

    /** Returns some bytes as a buffer, little-endian, at most 2 GiB; it keeps the addresses valid. */
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
        mapped.close();
    }
}
