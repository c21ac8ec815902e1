package dev.larder.distributed.region;

import dev.larder.layout.RegionDescriptor;
import dev.larder.posix.InterProcess;
import dev.larder.posix.Posix;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The locks that this process holds of regions, through one descriptor however many they are. The kernel does not tell apart who asks
 * through the same descriptor, so this counts by itself. Thread-safe.
 */
final class RegionLocks implements AutoCloseable {
    private final InterProcess calls = InterProcess.system();
    private final Posix posix = Posix.system();
    private final int descriptor;
    private final Map<Long, Integer> attached = new HashMap<>();
    private final Set<Long> held = new HashSet<>();
    private boolean open = true;

    RegionLocks(Path file) {
        this.descriptor = posix.openForWriting(file);
    }

    /** Says that this process has a region; false where it is being removed just now. */
    synchronized boolean tryAttach(long region) {
        requireOpen();
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
        return !held.contains(position) && calls.tryLockRange(descriptor, position, 1, true) && held.add(position);
    }

    synchronized void giveUp(long position) {
        if (held.remove(position) && open) {
            calls.unlockRange(descriptor, position, 1);
        }
    }

    /** Tells whether anybody holds a lock, this process included. */
    synchronized boolean isTaken(long position) {
        requireOpen();
        return held.contains(position) || calls.isRangeLocked(descriptor, position, 1);
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
