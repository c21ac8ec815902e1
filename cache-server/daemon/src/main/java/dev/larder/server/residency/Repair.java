package dev.larder.server.residency;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Restores files of a version that another program has removed, or gives the version up. Thread-safe. */
final class Repair {
    private static final Logger LOG = LoggerFactory.getLogger(Repair.class);

    private final Store store;
    private final Residency residency;

    Repair(Store store, Residency residency) {
        this.store = store;
        this.residency = residency;
    }

    /** Checks every file; see {@link Residency#repair}. */
    boolean repair(PublishedVersion version, Consumer<PublishedVersion> onVanished) {
        List<String> missing = store.missingFiles(version);
        if (missing.isEmpty()) {
            restoreCurrent(version);
        } else if (missing.equals(List.of(StoreLayout.MANIFEST)) && residency.isStaying(version)) {
            restoreManifest(version);
        } else if (residency.giveUp(version)) {
            finishGivingUp(version, onVanished);
            return true;
        }
        return false;
    }

    private void restoreManifest(PublishedVersion version) {
        try {
            store.rewriteManifest(version);
            LOG.warn("a manifest was lost and is recreated: folder={}", version.folder());
        } catch (LarderException e) { // the next check tries again
            LOG.warn("a manifest is lost: {}", e.getMessage());
        }
    }

    /** Restores the link of a dataset if it is missing. */
    void restoreCurrent(PublishedVersion version) {
        try {
            if (store.restoreCurrent(version, () -> residency.isStaying(version))) {
                LOG.warn(
                        "a link to the newest version was lost and is recreated: dataset={} version={}",
                        version.dataset(),
                        version.version());
            }
        } catch (LarderException e) { // the next check tries again
            LOG.warn("a link to the newest version is lost: {}", e.getMessage());
        }
    }

    private void finishGivingUp(PublishedVersion version, Consumer<PublishedVersion> onVanished) {
        try {
            store.unlinkCurrent(version);
            if (version.isSourced()) {
                recordSource(Registration.of(version));
                residency.removeReplaced(); // otherwise its number would stay taken
            } else {
                store.setAside(version);
            }
        } finally {
            onVanished.accept(version);
        }
    }

    /** Records a source that is already known to this process. If that fails, the next start does not have it. */
    private void recordSource(Registration registration) {
        try {
            store.writeRegistration(registration);
        } catch (LarderException e) {
            LOG.warn("the sources of a dataset are known only until the next start: {}", e.getMessage());
        }
    }
}
