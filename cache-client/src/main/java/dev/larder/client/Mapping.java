package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.SegmentFile;
import dev.larder.posix.FileStatus;
import dev.larder.posix.Posix;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * One file mapped read-only, which never crashes a late reader.
 *
 * <p>Closing it puts pages of zeros in place of the file, so the file's memory is free at once while its addresses stay
 * valid. The addresses go back to the system only when neither this object nor a buffer made from it can be reached. Readers
 * therefore read first and ask afterwards whether the mapping was open ({@link #isOpen}): an answer of yes vouches for what
 * was read before.
 */
final class Mapping implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final VarHandle OPEN = openHandle();

    /** How often the garbage collector is asked for room. */
    private static final int COLLECTIONS = 2;

    private static final long CLEANING_MS = 100;

    private final Posix posix;
    private final long address;
    private final long byteSize;
    private final Unmapping unmapping;

    @SuppressWarnings({"FieldMayBeFinal", "UnusedVariable"}) // through OPEN
    private boolean open = true;

    private Mapping(Posix posix, long address, long byteSize) {
        this.posix = posix;
        this.address = address;
        this.byteSize = byteSize;
        this.unmapping = new Unmapping(posix, address, byteSize);
        unmapping.releaseWith(this);
    }

    /** Maps the first {@code byteSize} bytes of a file of a leased version; the descriptor is closed again. */
    static Mapping of(Posix posix, Lease lease, Path file, long byteSize) {
        int descriptor = open(posix, lease, file);
        try {
            long found = posix.status(descriptor).byteSize();
            if (found < byteSize) {
                throw Failure.of(ErrorCode.CHECKSUM, "file is shorter than its index says")
                        .with("file", file)
                        .with("found", found)
                        .with("expected", byteSize)
                        .remedy("load the dataset anew");
            }
            long address = withRoom(() -> posix.mapReadOnly(descriptor, byteSize));
            try {
                return new Mapping(posix, address, byteSize);
            } catch (RuntimeException | Error e) {
                posix.unmap(address, byteSize);
                throw e;
            }
        } finally {
            posix.close(descriptor);
        }
    }

    /**
     * Maps the first {@code byteSize} bytes of a file that lies outside the store, as long as it is the very file that was loaded.
     */
    static Mapping ofSource(Posix posix, SegmentFile source, long byteSize) {
        int descriptor = openSource(posix, source);
        try {
            long address = withRoom(() -> posix.mapReadOnly(descriptor, byteSize));
            try {
                return new Mapping(posix, address, byteSize);
            } catch (RuntimeException | Error e) {
                posix.unmap(address, byteSize);
                throw e;
            }
        } finally {
            posix.close(descriptor);
        }
    }

    /** Fails where a file outside the store is not any more what was loaded. */
    static void requireUnchanged(Posix posix, SegmentFile source) {
        posix.close(openSource(posix, source));
    }

    private static int openSource(Posix posix, SegmentFile source) {
        int descriptor;
        try {
            descriptor = posix.openForReading(Path.of(source.file()));
        } catch (LarderException e) {
            throw e.code() != ErrorCode.NOT_FOUND
                    ? e
                    : Failure.of(ErrorCode.BAD_INPUT, "file of an array that is mapped in place is missing")
                            .with("file", source.file())
                            .cause(e)
                            .remedy("bring it back, or load the dataset from elsewhere");
        }
        try {
            FileStatus found = posix.status(descriptor);
            if (found.inode() != source.inode()
                    || found.byteSize() != source.byteSize()
                    || found.modifiedNanos() != source.modifiedNanos()) {
                throw Failure.of(ErrorCode.CHECKSUM, "file of an array that is mapped in place has changed")
                        .with("file", source.file())
                        .with("bytes", found.byteSize())
                        .with("loadedBytes", source.byteSize())
                        .with("modified", Instant.EPOCH.plusNanos(found.modifiedNanos()))
                        .with("loadedModified", Instant.EPOCH.plusNanos(source.modifiedNanos()))
                        .remedy("larder reload makes what it holds now the next version");
            }
            return descriptor;
        } catch (RuntimeException | Error e) {
            posix.close(descriptor);
            throw e;
        }
    }

    /** Opens a file of a leased version; one that is missing is damage, as only a daemon that ends removes what is leased. */
    static int open(Posix posix, Lease lease, Path file) {
        try {
            return posix.openForReading(file);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                lease.requireInStore();
                throw Failure.of(ErrorCode.CHECKSUM, "file of a published version is missing")
                        .with("file", file)
                        .cause(e)
                        .remedy("load the dataset anew");
            }
            throw e;
        }
    }

    /**
     * Maps, also where a process has as many mappings as it may have ({@code vm.max_map_count}): the closed ones among them end
     * when the garbage collector finds them, so it is asked to look.
     */
    private static long withRoom(LongSupplier map) {
        for (int attempt = 0; attempt < COLLECTIONS; attempt++) {
            try {
                return map.getAsLong();
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NO_SPACE) {
                    throw e;
                }
                System.gc();
                letCleanersRun();
            }
        }
        return map.getAsLong();
    }

    private static void letCleanersRun() {
        try {
            TimeUnit.MILLISECONDS.sleep(CLEANING_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    long address() {
        return address;
    }

    long byteSize() {
        return byteSize;
    }

    /** Tells whether what was read before this call came from the file. */
    boolean isOpen() {
        VarHandle.loadLoadFence();
        return (boolean) OPEN.getOpaque(this);
    }

    /**
     * Returns a read-only buffer, whose memory stays valid for as long as it or a slice of it is reachable. So long the owner
     * stays reachable too: a dataset that nobody closed is not closed under a buffer that is in use.
     */
    ByteBuffer byteBuffer(long position, int length, Object owner) {
        try {
            ByteBuffer buffer = posix.bufferOver(address + position, length);
            unmapping.releaseWith(buffer, owner);
            return buffer.asReadOnlyBuffer();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void close() {
        if (OPEN.compareAndSet(this, true, false)) {
            try {
                withRoom(() -> {
                    posix.replaceWithZeros(address, byteSize);
                    return address;
                });
            } finally {
                Reference.reachabilityFence(this);
            }
        }
    }

    private static VarHandle openHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(Mapping.class, "open", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
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

        /** Keeps {@code owner}, which must not lead to {@code user}, reachable for as long as {@code user} is. */
        void releaseWith(Object user, Object owner) {
            reachable.incrementAndGet();
            CLEANER.register(user, new Release(this, owner));
        }

        @Override
        public void run() {
            if (reachable.decrementAndGet() == 0) {
                posix.unmap(address, byteSize);
            }
        }
    }

    /** What the cleaner keeps for a buffer: it holds the owner, and that is all that the owner is here for. */
    private record Release(Unmapping unmapping, Object owner) implements Runnable {
        @Override
        public void run() {
            unmapping.run();
        }
    }
}
