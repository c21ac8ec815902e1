package dev.larder.server.residency;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.server.catalog.Catalog;
import dev.larder.server.catalog.CatalogEntry;
import dev.larder.server.store.version.PublishedVersion;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Keeps the catalog consistent with the store. A catalog that fails is reported once and not used again, because it can be rebuilt. If it
 * only refuses an entry, the others are still recorded.
 */
final class CatalogSync {
    private final Catalog catalog;
    private final Consumer<Throwable> onError;
    private volatile boolean lost;

    CatalogSync(Catalog catalog, Consumer<Throwable> onError) {
        this.catalog = catalog;
        this.onError = onError;
    }

    void add(PublishedVersion version, long lastUseMs) {
        attempt(() -> catalog.put(entry(version, lastUseMs)));
    }

    void remove(PublishedVersion version) {
        attempt(() -> catalog.remove(version.dataset(), version.version()));
    }

    /** Records when a version was last used. Survives restarts. */
    void touch(PublishedVersion version, long epochMs) {
        attempt(() -> catalog.touch(version.dataset(), version.version(), epochMs));
    }

    /**
     * Adds missing entries, removes entries without files, passes the times of last use to {@code usage}, and returns the highest known
     * version of each dataset. A version without an entry counts as used now, so that its time to live has not passed already.
     */
    Map<String, Long> reconcile(List<PublishedVersion> versions, Usage usage, long nowMs) {
        Map<String, Long> highest = new HashMap<>();
        attempt(() -> {
            Set<String> present = new HashSet<>();
            for (PublishedVersion version : versions) {
                present.add(key(version.dataset(), version.version()));
                Optional<CatalogEntry> known = catalog.find(version.dataset(), version.version());
                if (known.isEmpty()) {
                    usage.note(version, nowMs);
                    attempt(() -> catalog.put(entry(version, nowMs)));
                } else {
                    // if the clock was ahead when this was written, the version must not stay longer for it
                    usage.note(version, Math.min(known.get().lastUseEpochMs(), nowMs));
                }
            }
            for (CatalogEntry entry : catalog.entries()) {
                highest.merge(entry.dataset(), entry.version(), Math::max);
                if (!present.contains(key(entry.dataset(), entry.version()))) {
                    catalog.remove(entry.dataset(), entry.version());
                }
            }
        });
        if (lost) {
            versions.forEach(version -> usage.note(version, nowMs));
        }
        return highest;
    }

    private void attempt(Runnable change) {
        if (lost) {
            return;
        }
        try {
            change.run();
        } catch (LarderException e) {
            if (e.code() == ErrorCode.UNEXPECTED) {
                lost = true;
            } // otherwise only one entry was refused
            onError.accept(e);
        } catch (RuntimeException
                | InternalError e) { // the catalog throws InternalError if its sparse file meets a full file system
            lost = true;
            onError.accept(e);
        }
    }

    private static String key(String dataset, long version) {
        return dataset + "/" + version;
    }

    private static CatalogEntry entry(PublishedVersion version, long lastUseMs) {
        return new CatalogEntry(version.dataset(), version.version(), lastUseMs);
    }
}
