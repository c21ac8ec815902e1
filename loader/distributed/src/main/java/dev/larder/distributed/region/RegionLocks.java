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
 * The locks of regions of this process, through one descriptor. The kernel does not distinguish threads with one descriptor, so this class
 * counts. Thread-safe.
 */
final class RegionLocks implements AutoCloseable {
    private static final int ALONE = -1;

    private final InterProcess calls = InterProcess.system();
    private final Posix posix = Posix.system();
    private final Path file;
    private final int descriptor;
    private final Map<Long, Integer> attached = new HashMap<>();
    private final Map<Long, Integer> held = new HashMap<>(); // the number of sharers, or ALONE
    private boolean open = true;

    RegionLocks(Path file) {
        this.file = file;
        this.descriptor = posix.openForWriting(file);
    }

    /** Locks a region as open; false if it is being removed. */
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

    /** Takes an exclusive lock, which no other thread of this process has. */
    synchronized boolean tryTake(long position) {
        requireOpen();
        boolean isTaken = !held.containsKey(position) && calls.tryLockRange(descriptor, position, 1, true);
        if (isTaken) {
            held.put(position, ALONE);
        }
        return isTaken;
    }

    /** Takes a shared lock, also within this process. */
    synchronized boolean tryShare(long position) {
        requireOpen();
        int count = held.getOrDefault(position, 0);
        if (count == ALONE || (count == 0 && !calls.tryLockRange(descriptor, position, 1, false))) {
            return false;
        }
        held.put(position, count + 1);
        return true;
    }

    /** Releases a lock, or one share of it. */
    synchronized void giveUp(long position) {
        int count = held.getOrDefault(position, 0);
        if (count > 1) {
            held.put(position, count - 1);
        } else if (held.remove(position) != null && open) {
            calls.unlockRange(descriptor, position, 1);
        }
    }

    /** Returns whether a process holds a lock, including this one. */
    synchronized boolean isTaken(long position) {
        requireOpen();
        return held.containsKey(position) || calls.isRangeLocked(descriptor, position, 1);
    }

    /** Refuses to lock a file that other processes cannot find: the daemon would not see the lock, and remove the region. */
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
