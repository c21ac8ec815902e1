package dev.larder.client;

import dev.larder.internal.posix.Posix;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/** Lets stress tests take leases without a dataset around them. */
public final class LeaseDoor {
    private static final Posix POSIX = Posix.system();

    private LeaseDoor() {}

    /** What taking a lease led to. */
    public enum Taken {
        NOT,
        WHOLE,
        BROKEN
    }

    /** Takes a lease, looks whether what it protects is whole, and gives it back. */
    public static Taken takeAndRelease(Path version, BooleanSupplier isWhole) {
        Lease lease = Lease.tryTake(POSIX, version);
        if (lease == null) {
            return Taken.NOT;
        }
        try {
            return isWhole.getAsBoolean() ? Taken.WHOLE : Taken.BROKEN;
        } finally {
            lease.release();
        }
    }
}
