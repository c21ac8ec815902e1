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
 * Makes the catalog follow the store. A catalog that fails is reported once and not used again: it can be rebuilt. One that only
 * refuses an entry goes on with all others.
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

    /** Notes, over a restart as well, when a version was last used. */
    void touch(PublishedVersion version, long epochMs) {
        attempt(() -> catalog.touch(version.dataset(), version.version(), epochMs));
    }

    /**
     * Adds what is missing, drops what has no files, tells {@code usage} when the others were last used, and returns the highest
     * version known of each dataset. What nothing is known of counts as used now: its time to live must not have passed already.
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
                    // a clock that was ahead when this was written must not keep the version for longer
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
            } // else one entry was refused, and the others are as good as before
            onError.accept(e);
        } catch (RuntimeException | InternalError e) { // the latter where its sparse file meets a full file system
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
