package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.layout.StoreLayout;
import dev.larder.posix.Posix;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The right to read a version: a shared lock on its {@code lease} file. It ends with the last copy of its descriptor, however
 * the process dies. Owned by a {@link Dataset}.
 */
final class Lease implements AutoCloseable {
    private final Posix posix;
    private final int descriptor;
    private final AtomicBoolean held = new AtomicBoolean(true);

    private Lease(Posix posix, int descriptor) {
        this.posix = posix;
        this.descriptor = descriptor;
    }

    /** Leases a version; null where it is being retired, or is gone, so that the caller resolves the name again. */
    static @Nullable Lease tryTake(Posix posix, Path version) {
        int descriptor;
        try {
            descriptor = posix.openForReading(version.resolve(StoreLayout.LEASE));
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return null;
            }
            throw e;
        }
        boolean leased = false;
        try {
            leased = posix.tryLockShared(descriptor) && posix.status(descriptor).isLinked();
        } finally {
            if (!leased) {
                posix.close(descriptor);
            }
        }
        return leased ? new Lease(posix, descriptor) : null;
    }

    @Override
    public void close() {
        if (held.compareAndSet(true, false)) {
            posix.close(descriptor);
        }
    }
}
