package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A ring in a consumer: mapped read-only. After it is closed, all bytes read as zero. Thread-safe. */
final class RingReader implements AutoCloseable {
    private final Posix posix;
    private final Path folder;
    private final int lock;
    private final MappedMemory memory;
    private final RingGeometry geometry;
    private final ByteBuffer header;
    private final ByteBuffer[] slots;
    private boolean open = true;

    private RingReader(Posix posix, Path folder, int lock, MappedMemory memory, RingGeometry geometry) {
        this.posix = posix;
        this.folder = folder;
        this.lock = lock;
        this.memory = memory;
        this.geometry = geometry;
        this.header = memory.buffer(0, geometry.slotsOffset());
        this.slots = new ByteBuffer[geometry.slots()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = memory.buffer(geometry.slotOffset(i), geometry.slotByteSize());
        }
    }

    /** Maps a ring; returns null if it does not exist yet, or no longer. The caller closes it. */
    static @Nullable RingReader tryOpen(Posix posix, Path folder) {
        int lock = tryOpenFile(posix, folder.resolve(RingDescriptor.PRODUCER_LOCK));
        if (lock < 0) {
            return null;
        }
        RingReader reader = null;
        try {
            int descriptor = tryOpenFile(posix, folder.resolve(RingDescriptor.RING));
            if (descriptor >= 0) {
                try {
                    reader = map(posix, folder, lock, descriptor);
                } finally {
                    posix.close(descriptor);
                }
            }
            return reader;
        } finally {
            if (reader == null) {
                posix.close(lock);
            }
        }
    }

    private static int tryOpenFile(Posix posix, Path file) {
        try {
            return posix.openForReading(file);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return -1;
            }
            throw e;
        }
    }

    private static RingReader map(Posix posix, Path folder, int lock, int descriptor) {
        Path file = folder.resolve(RingDescriptor.RING);
        FileStatus found = posix.status(descriptor);
        if (!found.isRegular() || found.byteSize() < RingDescriptor.TABLE_OFFSET) {
            throw Failure.of(ErrorCode.CHECKSUM, "not a ring")
                    .with("file", file)
                    .with("bytes", found.byteSize())
                    .exception();
        }
        MappedMemory memory = MappedMemory.readOnly(posix, descriptor, found.byteSize());
        try {
            ByteBuffer start = memory.buffer(0, RingGeometry.headerBytes(found.byteSize()));
            RingGeometry geometry = RingGeometry.read(start, found.byteSize(), file);
            return new RingReader(posix, folder, lock, memory, geometry);
        } catch (RuntimeException | Error e) {
            memory.close();
            throw e;
        }
    }

    RingGeometry geometry() {
        return geometry;
    }

    Path folder() {
        return folder;
    }

    long publishedAcquire() {
        return RingWords.longAcquire(header, RingDescriptor.PUBLISHED_OFFSET);
    }

    /** Returns the oldest batch that may still be in its slot. A new consumer writes its start to its page before this call. */
    long oldestAcquire() {
        long claimed = RingWords.longAcquire(header, RingDescriptor.CLAIMED_OFFSET);
        return Math.max(0, claimed - geometry.slots());
    }

    int stateAcquire() {
        return RingWords.intAcquire(header, RingDescriptor.STATE_OFFSET);
    }

    /** Returns why the producer failed. */
    String message() {
        int length = header.getInt(RingDescriptor.MESSAGE_LENGTH_OFFSET);
        int shown = Math.max(0, Math.min(length, RingDescriptor.MESSAGE_LIMIT));
        return StandardCharsets.UTF_8
                .decode(header.slice(RingDescriptor.MESSAGE_OFFSET, shown))
                .toString();
    }

    boolean isDropped(int seat, long ticket) {
        return RingWords.longAcquire(header, RingDescriptor.droppedOffset(seat)) == ticket;
    }

    /** Returns the slot of a batch. */
    ByteBuffer slot(long batch) {
        return slots[(int) (batch % slots.length)];
    }

    /** Returns whether all reads of a batch before this call returned the published bytes. */
    boolean isIntact(long batch) {
        VarHandle.loadLoadFence();
        return RingWords.longAcquire(slot(batch), RingDescriptor.SLOT_SEQUENCE_OFFSET) == RingDescriptor.written(batch);
    }

    /** Returns whether the producer's lock is free, as it is when its process has ended. */
    synchronized boolean isProducerDead() {
        if (!open || !posix.tryLockShared(lock)) {
            return false;
        }
        posix.unlock(lock);
        return true;
    }

    /** Returns whether the name still leads to the open files. */
    synchronized boolean isLinked() {
        return open && posix.status(lock).isLinked();
    }

    /** Idempotent; callable from any thread. */
    @Override
    public synchronized void close() {
        if (open) {
            open = false;
            try {
                memory.close();
            } finally {
                posix.close(lock);
            }
        }
    }
}
