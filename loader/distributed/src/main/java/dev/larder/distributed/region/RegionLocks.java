package dev.larder.distributed.region;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.posix.InterProcess;
import dev.larder.internal.posix.Posix;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The locks that this process holds of regions, through one descriptor however many they are. The kernel does not tell apart who asks
 * through the same descriptor, so this counts by itself. Thread-safe.
 */
final class RegionLocks implements AutoCloseable {
    private static final int ALONE = -1;

    private final InterProcess calls = InterProcess.system();
    private final Posix posix = Posix.system();
    private final Path file;
    private final int descriptor;
    private final Map<Long, Integer> attached = new HashMap<>();
    private final Map<Long, Integer> held = new HashMap<>(); // how many share it; ALONE
    private boolean open = true;

    RegionLocks(Path file) {
        this.file = file;
        this.descriptor = posix.openForWriting(file);
    }

    /** Says that this process has a region; false where it is being removed just now. */
    synchronized boolean tryAttach(long region) {
        requireOpen();
        requireInPlace();
        int count = attached.getOrDefault(region, 0);
        if (count == 0 && !calls.tryLockRange(descriptor, region + RegionDescriptor.ATTACHED_LOCK, 1, false)) {
            return false;
        }
        attached.put(region, count + 1);
        return true;
    }

    synchronized void detach(long region) {
        int count = attached.merge(region, -1, Integer::sum);
        if (count == 0) {
            attached.remove(region);
            if (open) {
                calls.unlockRange(descriptor, region + RegionDescriptor.ATTACHED_LOCK, 1);
            }
        }
    }

    /** Takes a lock that one holder has at a time, in this process too. */
    synchronized boolean tryTake(long position) {
        requireOpen();
        boolean isTaken = !held.containsKey(position) && calls.tryLockRange(descriptor, position, 1, true);
        if (isTaken) {
            held.put(position, ALONE);
        }
        return isTaken;
    }

    /** Takes a lock that others may share, also in this process. */
    synchronized boolean tryShare(long position) {
        requireOpen();
        int count = held.getOrDefault(position, 0);
        if (count == ALONE || (count == 0 && !calls.tryLockRange(descriptor, position, 1, false))) {
            return false;
        }
        held.put(position, count + 1);
        return true;
    }

    /** Gives up a lock that was taken, or one share of it. */
    synchronized void giveUp(long position) {
        int count = held.getOrDefault(position, 0);
        if (count > 1) {
            held.put(position, count - 1);
        } else if (held.remove(position) != null && open) {
            calls.unlockRange(descriptor, position, 1);
        }
    }

    /** Tells whether anybody holds a lock, this process included. */
    synchronized boolean isTaken(long position) {
        requireOpen();
        return held.containsKey(position) || calls.isRangeLocked(descriptor, position, 1);
    }

    /** Refuses to lock a file that nobody else finds: the daemon would see nobody who has the region, and take it away. */
    private void requireInPlace() {
        if (!posix.status(descriptor).isLinked()) {
            throw Failure.of(ErrorCode.NO_DAEMON, "the store of these regions was removed")
                    .with("locks", file)
                    .remedy("open Regions again when a daemon serves the store");
        }
    }

    private void requireOpen() {
        if (!open) {
            throw new IllegalStateException("regions are closed");
        }
    }

    @Override
    public synchronized void close() {
        if (open) {
            open = false;
            posix.close(descriptor);
        }
    }
}
