package dev.larder.server.store;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.lock.LeaseProbe;
import dev.larder.server.store.lock.StoreLock;
import dev.larder.server.store.version.PublishedVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes a whole store that this process owns, and releases its lock. The counterpart of {@link TakeOver}. */
final class StoreRemoval {
    private static final Logger LOG = LoggerFactory.getLogger(StoreRemoval.class);

    private final Posix posix;
    private final StoreLayout layout;
    private final StoreLock lock;
    private final LeaseProbe leases;
    private final Rings rings;
    private final RegionFiles regions;

    StoreRemoval(Posix posix, StoreLayout layout, StoreLock lock, LeaseProbe leases, Rings rings, RegionFiles regions) {
        this.posix = posix;
        this.layout = layout;
        this.lock = lock;
        this.leases = leases;
        this.rings = rings;
        this.regions = regions;
    }

    /** See {@link Store#removeAll}. */
    CleanUp run(List<PublishedVersion> versions) throws IOException {
        if (!lock.isInPlace()) { // the present contents, if any, belong to another daemon
            regions.close();
            lock.close();
            return new CleanUp(0, 0, 0, List.of());
        }
        Set<Long> pids = new TreeSet<>();
        long held = leasedBytes(versions, pids) + rings.liveBytes() + regions.heldBytes();
        long holes = Rings.holeBytes(posix, layout);
        regions.close();
        Removal removal = new Removal();
        List<Path> folders = new ArrayList<>(Rings.entries(layout));
        folders.add(layout.incoming());
        versions.stream().map(PublishedVersion::folder).forEach(folders::add);
        try {
            removal.removeAll(folders);
        } finally {
            List<Path> rest = new ArrayList<>(layout.parts());
            rest.removeAll(folders); // a failed removal is not repeated, or the lock would stay
            removal.removeAll(rest);
            // From here on another daemon may take the store, so only the lock and an empty folder are removed after
            // it.
            Files.deleteIfExists(layout.lock());
            lock.close();
        }
        Publication.deleteIfEmpty(layout.root());
        return new CleanUp(removal.files(), Math.max(0, removal.bytes() - holes), held, new ArrayList<>(pids));
    }

    /** Returns the space of the leased versions, and adds the pids of their holders. */
    private long leasedBytes(List<PublishedVersion> versions, Set<Long> pids) {
        long bytes = 0;
        for (PublishedVersion version : versions) {
            try {
                if (leases.isLeased(version.folder())) {
                    bytes += version.storedBytes();
                    pids.addAll(leases.holders(version.folder()));
                }
            } catch (LarderException e) {
                LOG.warn("cannot determine the readers of a version: {}", e.getMessage());
            }
        }
        return bytes;
    }
}
