package dev.larder.internal.posix;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A file mapped into memory. A thread that reads it after it was closed does not crash. Thread-safe.
 *
 * <p>Closing replaces the file with private pages of zeros, so the file's memory is freed immediately while the addresses stay
 * valid. The addresses are unmapped when neither this object nor a buffer made from it is reachable.
 */
public final class MappedMemory implements AutoCloseable {
    static final Cleaner CLEANER = Cleaner.create();

    /** Number of garbage collections to try for free mappings. */
    private static final int COLLECTIONS = 2;

    private static final long CLEANING_MS = 100;

    private final Posix posix;
    private final long address;
    private final long byteSize;
    private final boolean isWritable;
    private final Unmapping unmapping;
    private volatile boolean open = true;

    private MappedMemory(Posix posix, long address, long byteSize, boolean isWritable) {
        this.posix = posix;
        this.address = address;
        this.byteSize = byteSize;
        this.isWritable = isWritable;
        this.unmapping = new Unmapping(posix, address, byteSize);
        unmapping.releaseWith(this, null);
    }

    /** Maps the first {@code byteSize} bytes of a file for reading. The descriptor can be closed. */
    public static MappedMemory readOnly(Posix posix, int descriptor, long byteSize) {
        return map(posix, () -> posix.mapReadOnly(descriptor, 0, byteSize), byteSize, false);
    }

    /** Maps the first {@code byteSize} bytes, which are reserved, for reading and writing. The descriptor can be closed. */
    public static MappedMemory writable(Posix posix, int descriptor, long byteSize) {
        return map(posix, () -> BulkIo.system().mapWritable(descriptor, 0, byteSize), byteSize, true);
    }

    /** Owns the memory that {@code mapping} maps. */
    static MappedMemory map(Posix posix, LongSupplier mapping, long byteSize, boolean isWritable) {
        long address = withRoom(mapping);
        try {
            return new MappedMemory(posix, address, byteSize, isWritable);
        } catch (RuntimeException | Error e) {
            posix.unmap(address, byteSize);
            throw e;
        }
    }

    /**
     * Maps, even if the process has reached its limit of mappings ({@code vm.max_map_count}). Closed mappings end when the
     * garbage collector finds them, so this runs it.
     */
    private static long withRoom(LongSupplier mapping) {
        for (int attempt = 0; attempt < COLLECTIONS; attempt++) {
            try {
                return mapping.getAsLong();
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NO_SPACE) {
                    throw e;
                }
                System.gc();
                letCleanersRun();
            }
        }
        return mapping.getAsLong();
    }

    private static void letCleanersRun() {
        try {
            TimeUnit.MILLISECONDS.sleep(CLEANING_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Returns the start address. It is valid while this object or a buffer made from it is reachable
     * ({@link Reference#reachabilityFence}).
     */
    public long address() {
        return address;
    }

    /** Returns the number of mapped bytes. */
    public long byteSize() {
        return byteSize;
    }

    /** Returns whether it is open. This orders no earlier reads; a reader that needs that adds a fence. */
    public boolean isOpen() {
        return open;
    }

    /** Returns some of the bytes as a little-endian buffer, at most 2 GiB. The buffer and its slices keep the addresses valid. */
    public ByteBuffer buffer(long offset, long length) {
        return buffer(offset, length, null);
    }

    /**
     * Returns some of the bytes as a buffer that also keeps {@code owner} reachable. Otherwise the garbage collector could
     * close an unclosed dataset while its buffer is in use.
     */
    public ByteBuffer buffer(long offset, long length, @Nullable Object owner) {
        requireWithin(offset, length, byteSize);
        try {
            ByteBuffer buffer = posix.bufferOver(address + offset, Math.toIntExact(length));
            unmapping.releaseWith(buffer, owner);
            return (isWritable ? buffer : buffer.asReadOnlyBuffer()).order(ByteOrder.LITTLE_ENDIAN);
        } finally {
            Reference.reachabilityFence(this); // keeps the addresses valid until the buffer does
        }
    }

    /** Throws if a range exceeds memory of this many bytes. */
    public static void requireWithin(long offset, long length, long byteSize) {
        if (offset < 0 || length < 0 || offset > byteSize - length) {
            throw new IndexOutOfBoundsException("offset " + offset + " length " + length + " of " + byteSize);
        }
    }

    /** Closes the mapping. Idempotent. */
    @Override
    public synchronized void close() {
        if (!open) {
            return;
        }
        open = false; // set first: it counts as closed even if the system calls below fail
        try {
            withRoom(() -> {
                posix.replaceWithZeros(address, byteSize, isWritable);
                return address;
            });
        } finally {
            Reference.reachabilityFence(this); // keeps the addresses, else the zeros could replace another mapping
        }
    }

    /** Unmaps the addresses when no registered object is reachable any more. */
    private static final class Unmapping {
        private final Posix posix;
        private final long address;
        private final long byteSize;
        private final AtomicInteger reachable = new AtomicInteger();

        Unmapping(Posix posix, long address, long byteSize) {
            this.posix = posix;
            this.address = address;
            this.byteSize = byteSize;
        }

        /** Keeps {@code owner} reachable while {@code user} is. {@code owner} must not refer to {@code user}. */
        void releaseWith(Object user, @Nullable Object owner) {
            reachable.incrementAndGet();
            CLEANER.register(user, new Release(this, owner));
        }

        void release() {
            if (reachable.decrementAndGet() == 0) {
                posix.unmap(address, byteSize);
            }
        }
    }

    /** The cleaner's action. It also refers to the owner, which keeps the owner reachable. */
    private record Release(Unmapping unmapping, @Nullable Object owner) implements Runnable {
        @Override
        public void run() {
            unmapping.release();
        }
    }
}
