package dev.larder.server.residency;

import dev.larder.server.store.version.PublishedVersion;
import java.util.HashMap;
import java.util.Map;

/** When versions were last used. Leases are looked at now and then, so this is not exact. Thread-safe. */
final class Usage {
    /** How long somebody who was told of a version has to lease it. */
    static final long PROTECTED_MS = 2_000;

    private final Map<String, Long> lastUseMs = new HashMap<>();
    private final Map<String, Long> protectedUntilMs = new HashMap<>();

    private static String key(PublishedVersion version) {
        return version.dataset() + "/" + version.version();
    }

    /** Notes that a version is in use. */
    synchronized void note(PublishedVersion version, long nowMs) {
        lastUseMs.merge(key(version), nowMs, Math::max);
    }

    /** Notes that somebody is about to lease a version. */
    synchronized void protect(PublishedVersion version, long nowMs) {
        note(version, nowMs);
        protectedUntilMs.put(key(version), nowMs + PROTECTED_MS);
    }

    /** Tells whether somebody is about to lease a version. */
    synchronized boolean isProtected(PublishedVersion version, long nowMs) {
        return nowMs < protectedUntilMs.getOrDefault(key(version), 0L);
    }

    /** Returns when a version was last used; when it was published, where nobody has been seen to. */
    synchronized long lastUseMs(PublishedVersion version) {
        return lastUseMs.getOrDefault(key(version), version.publishedEpochMs());
    }

    synchronized void forget(PublishedVersion version) {
        lastUseMs.remove(key(version));
        protectedUntilMs.remove(key(version));
    }
}
