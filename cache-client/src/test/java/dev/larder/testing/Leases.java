package dev.larder.testing;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import java.nio.file.Path;

/** Asks the kernel, as the daemon does, whether a version is leased. */
public final class Leases {
    private static final Posix POSIX = Posix.system();

    private Leases() {}

    /** Tells whether any process, this one included, holds a lease on the version in this folder. */
    public static boolean isLeased(Path version) {
        int descriptor = POSIX.openForReading(version.resolve(StoreLayout.LEASE));
        try {
            return !POSIX.tryLockExclusive(descriptor);
        } finally {
            POSIX.close(descriptor);
        }
    }
}
