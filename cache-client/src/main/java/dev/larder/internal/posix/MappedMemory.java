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
 * A file mapped into memory, which never crashes a thread that comes too late. Thread-safe.
 *
 * <p>Closing it puts private pages of zeros in place of the file, so the file's memory is free at once while its
 * addresses stay valid. The addresses go back to the system only when neither this object nor a buffer made from it can be reached.
 */
public final class MappedMemory implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    /** How often the garbage collector is asked for room. */
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

    /** Owns what {@code mapping} maps. */
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
     * Maps, also where a process has as many mappings as it may have ({@code vm.max_map_count}): the closed ones among
     * them end when the garbage collector finds them, so it is asked to look.
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
     * Returns where the memory starts. The address stays valid while this object or a buffer made from it can be reached
     * ({@link Reference#reachabilityFence}).
     */
    public long address() {
        return address;
    }

    /** Returns how many bytes are mapped. */
    public long byteSize() {
        return byteSize;
    }

    /** Tells whether it is open. Does not vouch for earlier reads: a reader that needs that adds a fence. */
    public boolean isOpen() {
        return open;
    }

    /** Returns some bytes as a buffer, little-endian, at most 2 GiB, which keeps the addresses valid, as do its slices. */
    public ByteBuffer buffer(long offset, long length) {
        return buffer(offset, length, null);
    }

    /**
     * Returns some bytes as a buffer that also keeps {@code owner} reachable: a dataset that nobody closed is not closed
     * under a buffer that is in use.
     */
    public ByteBuffer buffer(long offset, long length, @Nullable Object owner) {
        requireWithin(offset, length, byteSize);
        try {
            ByteBuffer buffer = posix.bufferOver(address + offset, Math.toIntExact(length));
            unmapping.releaseWith(buffer, owner);
            return (isWritable ? buffer : buffer.asReadOnlyBuffer()).order(ByteOrder.LITTLE_ENDIAN);
        } finally {
            Reference.reachabilityFence(this); // or the addresses were given back before the buffer kept them
        }
    }

    /** Fails where a stretch reaches beyond memory of this many bytes. */
    public static void requireWithin(long offset, long length, long byteSize) {
        if (offset < 0 || length < 0 || offset > byteSize - length) {
            throw new IndexOutOfBoundsException("offset " + offset + " length " + length + " of " + byteSize);
        }
    }

    /** Idempotent, from any thread. */
    @Override
    public synchronized void close() {
        if (!open) {
            return;
        }
        open = false; // first: it is closed also where the system refuses what follows
        try {
            withRoom(() -> {
                posix.replaceWithZeros(address, byteSize, isWritable);
                return address;
            });
        } finally {
            Reference.reachabilityFence(this); // or zeros came over what another has mapped there meanwhile
        }
    }

    /** Gives the addresses back once nothing that was registered can be reached any more. */
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

        /** Keeps {@code owner}, which must not lead to {@code user}, reachable for as long as {@code user} is. */
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

    /** What the cleaner keeps: it holds the owner, and that is all that the owner is here for. */
    private record Release(Unmapping unmapping, @Nullable Object owner) implements Runnable {
        @Override
        public void run() {
            unmapping.release();
        }
    }
}
