package dev.larder.server.residency;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.server.store.PublishedVersion;
import dev.larder.server.store.Store;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides whether a load may begin. It may where its bytes fit, or where evicting what was used least recently makes them fit;
 * only versions leave that nobody leases, that are not pinned and that have a source. Where even all of those would not be enough,
 * none leaves and the load is refused. One load at a time is decided on. Thread-safe.
 */
final class Admission {
    private static final long LOOK_AGAIN_MS = 50;

    private final Store store;
    private final Residency residency;
    private final Usage usage;
    private final LongSupplier clockMs;

    /** What could leave, and why the rest could not. */
    private static final class Survey {
        private final List<PublishedVersion> evictable = new ArrayList<>();
        private final List<PublishedVersion> awaited = new ArrayList<>();
        private final List<PublishedVersion> leased = new ArrayList<>();
        private final List<PublishedVersion> pinned = new ArrayList<>();
        private final List<PublishedVersion> unsourced = new ArrayList<>();
    }

    Admission(Store store, Residency residency, Usage usage, LongSupplier clockMs) {
        this.store = store;
        this.residency = residency;
        this.usage = usage;
        this.clockMs = clockMs;
    }

    /** Sets space aside, or refuses with all numbers and nothing changed. */
    synchronized void reserve(long neededBytes) {
        if (store.tryReserveSpace(neededBytes, residency.usedBytes())) {
            return;
        }
        residency.removeRetired();
        while (!store.tryReserveSpace(neededBytes, residency.usedBytes())) {
            Survey survey = survey();
            long missing = neededBytes - store.freeBytes(residency.usedBytes());
            if (missing <= Residency.storedBytes(survey.evictable)) {
                evict(survey.evictable, missing);
            } else if (missing <= Residency.storedBytes(survey.evictable) + Residency.storedBytes(survey.awaited)) {
                pause();
            } else {
                throw notEnough(neededBytes, survey);
            }
        }
    }

    private Survey survey() {
        Survey survey = new Survey();
        long nowMs = clockMs.getAsLong();
        for (PublishedVersion version : residency.current()) {
            if (store.isLeased(version)) {
                survey.leased.add(version);
            } else if (store.isPinned(version)) {
                survey.pinned.add(version);
            } else if (!version.isSourced()) {
                survey.unsourced.add(version);
            } else if (usage.isProtected(version, nowMs)) {
                survey.awaited.add(version);
            } else if (version.storedBytes() > 0) {
                survey.evictable.add(version);
            }
        }
        residency.retired().stream().filter(store::isLeased).forEach(survey.leased::add);
        return survey;
    }

    /** Lets go, least recently used first, until enough is free; what somebody leases meanwhile stays. */
    private void evict(List<PublishedVersion> evictable, long missingBytes) {
        List<PublishedVersion> oldestFirst = evictable.stream()
                .sorted(Comparator.comparingLong(usage::lastUseMs))
                .toList();
        long missing = missingBytes;
        for (PublishedVersion version : oldestFirst) {
            if (missing <= 0) {
                return;
            }
            if (residency.letGo(version, false)) {
                missing -= version.storedBytes();
            }
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "load was interrupted while it waited for room")
                    .cause(e)
                    .exception();
        }
    }

    private LarderException notEnough(long neededBytes, Survey survey) {
        return Failure.of(ErrorCode.NO_SPACE, "not enough space")
                .with("needed", neededBytes)
                .with("free", store.freeBytes(residency.usedBytes()))
                .with("evictable", Residency.storedBytes(survey.evictable) + Residency.storedBytes(survey.awaited))
                .with("leased", Residency.storedBytes(survey.leased))
                .with("pinned", Residency.storedBytes(survey.pinned))
                .with("unsourced", Residency.storedBytes(survey.unsourced))
                .with("capacity", store.capacityBytes())
                .remedy("evict or unpin datasets, end their readers, raise --capacity, or use a larger mount");
    }
}
