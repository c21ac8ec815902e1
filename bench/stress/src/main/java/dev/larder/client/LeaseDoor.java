package dev.larder.client;

import dev.larder.internal.posix.Posix;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/** Lets stress tests take leases without a dataset around them. */
public final class LeaseDoor {
    private static final Posix POSIX = Posix.system();

    private LeaseDoor() {}

    /** The result of taking a lease. */
    public enum Taken {
        NOT,
        WHOLE,
        BROKEN
    }

    /** Takes a lease, checks that the protected version is whole, and releases it. */
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
