package dev.larder.server.residency;

import dev.larder.server.store.version.PublishedVersion;
import java.util.HashMap;
import java.util.Map;

/** Records when versions were last used. Leases are sampled, so the times are not exact. Thread-safe. */
final class Usage {
    /** The time that a client has to lease a version after it was announced. */
    static final long PROTECTED_MS = 2_000;

    private final Map<String, Long> lastUseMs = new HashMap<>();
    private final Map<String, Long> protectedUntilMs = new HashMap<>();

    private static String key(PublishedVersion version) {
        return version.dataset() + "/" + version.version();
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
