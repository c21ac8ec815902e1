package dev.larder.server.residency;

import dev.larder.server.catalog.CatalogEntry;
import dev.larder.server.store.version.PublishedVersion;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Records when versions were last used. Leases are sampled, so the times are not exact. Thread-safe. */
final class Usage {
    /** The time that a client has to lease a version after it was announced. */
    static final long PROTECTED_MS = 2_000;

    private final Map<String, Long> lastUseMs = new HashMap<>();
    private final Map<String, Long> protectedUntilMs = new HashMap<>();

    private static String key(PublishedVersion version) {
        return key(version.dataset(), version.version());
    }

    private static String key(String dataset, long version) {
        return dataset + "/" + version;
    }

    /**
     * Takes over times of last use. A version without one counts as used now, so that its time to live has not passed already; so does one that was used in
     * the future, if the clock was ahead.
     */
    synchronized void adopt(List<PublishedVersion> versions, List<CatalogEntry> lastUses, long nowMs) {
        Map<String, Long> known = new HashMap<>();
        lastUses.forEach(entry -> known.put(key(entry.dataset(), entry.version()), entry.lastUseEpochMs()));
        versions.forEach(version -> note(version, Math.min(known.getOrDefault(key(version), nowMs), nowMs)));
    }

    /** Records that a version is in use. */
    synchronized void note(PublishedVersion version, long nowMs) {
        lastUseMs.merge(key(version), nowMs, Math::max);
    }

    /** Records that a client is about to lease a version. */
    synchronized void protect(PublishedVersion version, long nowMs) {
        note(version, nowMs);
        protectedUntilMs.put(key(version), nowMs + PROTECTED_MS);
    }

    /** Returns whether a client is about to lease a version. */
    synchronized boolean isProtected(PublishedVersion version, long nowMs) {
        return nowMs < protectedUntilMs.getOrDefault(key(version), 0L);
    }

    /** Returns when a version was last used, or when it was published if no use has been seen. */
    synchronized long lastUseMs(PublishedVersion version) {
        return lastUseMs.getOrDefault(key(version), version.publishedEpochMs());
    }

    synchronized void forget(PublishedVersion version) {
        lastUseMs.remove(key(version));
        protectedUntilMs.remove(key(version));
    }
}
