package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.FileStamp;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.ScatterList;

/**
 * An open source file. {@link #requireUnchanged} checks that it is the scanned file, so that all bytes that were read before are good. Opening never
 * blocks, not even on a pipe. Owns a descriptor.
 */
public final class SourceReader implements AutoCloseable {
    private static final Posix POSIX = Posix.system();
    private static final BulkIo IO = BulkIo.system();

    /** Of a file that is read in one go it is enough to look once, afterwards. */
    private static final long SMALL_BYTES = 256 << 10;

    private final SourceIdentity seen;
    private final int descriptor;

    private SourceReader(SourceIdentity seen, int descriptor) {
        this.seen = seen;
        this.descriptor = descriptor;
    }

    /**
     * Opens a file; fails with {@link ErrorCode#BAD_INPUT} if it has changed. Leaves that check of a small file to {@link #requireUnchanged}. The
     * caller closes the reader.
     */
    public static SourceReader open(SourceIdentity seen) {
        SourceReader reader = new SourceReader(seen, openWithoutWaiting(seen));
        try {
            if (seen.byteSize() > SMALL_BYTES) {
                reader.requireUnchanged();
            }
            return reader;
        } catch (RuntimeException | Error e) {
            reader.close();
            throw e;
        }
    }

    private static int openWithoutWaiting(SourceIdentity seen) {
        try {
            return IO.openWithoutWaiting(seen.file());
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND && e.code() != ErrorCode.REFUSED) {
                throw e; // such as too many open files: ours, not the file's
            }
            String reason = e.code() == ErrorCode.NOT_FOUND
                    ? "it was removed after it was checked"
                    : String.valueOf(e.getMessage());
            throw Refusal.of(seen.file(), 0, reason);
        }
    }

    /** Fills all pieces of a list from an offset on. Returns the number of bytes: fewer than the pieces have if the file ends before. */
    public long read(long position, ScatterList pieces) {
        try {
            return IO.read(descriptor, position, pieces);
        } catch (LarderException e) {
            requireUnchanged(); // it may be a folder by now, or a pipe
            throw Refusal.of(seen.file(), position, String.valueOf(e.getMessage()));
        }
    }

    /** Fails with {@link ErrorCode#BAD_INPUT} if the file was written, truncated or unlinked since it was scanned. */
    public void requireUnchanged() {
        FileStatus status = POSIX.status(descriptor);
        if (!status.isRegular()) {
            throw Refusal.changed(seen.file());
        }
        if (!status.isLinked() || !FileStamp.of(status).equals(seen.stamp())) {
            throw Refusal.changed(seen.file());
        }
    }

    @Override
    public void close() {
        POSIX.close(descriptor);
    }
}
