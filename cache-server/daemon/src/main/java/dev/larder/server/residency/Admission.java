package dev.larder.server.residency;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.server.store.RegionFiles;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.PublishedVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides whether a load may begin. It may where its bytes fit, or where evicting what was used least recently makes them fit;
 * only versions leave that nobody leases, that are not pinned and that have a source, and computed rows that nobody has open. Where
 * even all of those would not be enough, none leaves and the load is refused. One load at a time is decided on. What somebody was just told of may hold a load up for as
 * long as that one has to lease it, however often it is told of again. Thread-safe.
 */
final class Admission {
    private static final long LOOK_AGAIN_MS = 50;
    private static final long MOST_PAUSES = Usage.PROTECTED_MS / LOOK_AGAIN_MS;

    /** How long what somebody else removes may take to be free: unlinking small pages costs 0.2 s a GiB. */
    private static final long MOST_PAUSES_FOR_DEPARTING = 60_000 / LOOK_AGAIN_MS;

    private static final Logger LOG = LoggerFactory.getLogger(Admission.class);

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
        private final List<RegionFiles.Kept> evictableRows = new ArrayList<>();
        private long heldRowBytes;

        long evictableBytes() {
            return Residency.storedBytes(evictable)
                    + evictableRows.stream()
                            .mapToLong(RegionFiles.Kept::storedBytes)
                            .sum();
        }
    }

    /**
     * What may leave.
     *
     * @param letsGo removes it, where nobody has begun to use it since
     */
    private record Candidate(long lastUseMs, long bytes, BooleanSupplier letsGo) {}

    Admission(Store store, Residency residency, Usage usage, LongSupplier clockMs) {
        this.store = store;
        this.residency = residency;
        this.usage = usage;
        this.clockMs = clockMs;
    }

    /** See {@link Residency#reserve(long, int, long, BooleanSupplier)}. */
    Reservation reserve(long neededBytes, int datasets, long arrays, BooleanSupplier isWanted) {
        Reservation reservation = store.newReservation((growing, moreBytes) -> grow(growing, moreBytes, isWanted));
        try {
            reservation.allowFor(datasets, arrays);
            reservation.grow(neededBytes);
            return reservation;
        } catch (RuntimeException | Error e) {
            reservation.close();
            throw e;
        }
    }

    /** See {@link Residency#reserveWithoutEvicting}. */
    Reservation reserveWithoutEvicting() {
        return store.newReservation((growing, moreBytes) -> {
            if (!store.tryGrow(growing, moreBytes, residency::usedBytes)) {
                throw withSums(notEnough(moreBytes), growing)
                        .remedy(
                                "evict datasets that you no longer need with larder evict (computed ones do not come back),"
                                        + " or raise --capacity");
            }
        });
    }

    /** Sets more space aside, or refuses with all numbers and nothing changed; see {@link Reservation#grow}. */
    void grow(Reservation reservation, long moreBytes, BooleanSupplier isWanted) {
        for (int pauses = 0; !tryGrow(reservation, moreBytes, pauses); pauses++) {
            pause(); // others may be decided on meanwhile
            if (!isWanted.getAsBoolean()) {
                throw new CancellationException("no client waits any more for a load that waited for room");
            }
        }
    }

    /** False where a moment may help; never for ever. */
    private synchronized boolean tryGrow(Reservation reservation, long moreBytes, int pauses) {
        if (store.tryGrow(reservation, moreBytes, residency::usedBytes)) {
            return true;
        }
        residency.removeRetired();
        while (!store.tryGrow(reservation, moreBytes, residency::usedBytes)) {
            Survey survey = survey(pauses < MOST_PAUSES);
            long departing = pauses < MOST_PAUSES_FOR_DEPARTING ? residency.departingBytes() : 0;
            long missing = store.missingBytes(reservation, moreBytes, residency::usedBytes);
            if (departing > 0 && missing <= departing) {
                return false;
            } else if (missing <= survey.evictableBytes()) {
                evict(reservation, survey, missing);
            } else if (missing <= survey.evictableBytes() + Residency.storedBytes(survey.awaited) + departing) {
                return false;
            } else {
                throw notEnough(reservation, moreBytes, survey);
            }
        }
        return true;
    }

    private Survey survey(boolean mayWait) {
        Survey survey = new Survey();
        long nowMs = clockMs.getAsLong();
        for (PublishedVersion version : residency.current()) {
            if (store.leases().isLeased(version.folder())) {
                survey.leased.add(version);
            } else if (store.isPinned(version)) {
                survey.pinned.add(version);
            } else if (!version.isSourced()) {
                survey.unsourced.add(version);
            } else if (mayWait && usage.isProtected(version, nowMs)) {
                survey.awaited.add(version);
            } else if (version.storedBytes() > 0) {
                survey.evictable.add(version);
            }
        }
        residency.retired().stream()
                .filter(version -> store.leases().isLeased(version.folder()))
                .forEach(survey.leased::add);
        for (RegionFiles.Kept rows : store.regions().kept()) {
            if (rows.isEvictable()) {
                survey.evictableRows.add(rows);
            } else {
                survey.heldRowBytes += rows.storedBytes();
            }
        }
        return survey;
    }

    /** Lets go, least recently used first, until enough is free; what somebody leases meanwhile stays. */
    private void evict(Reservation reservation, Survey survey, long missingBytes) {
        Stream<Candidate> versions = survey.evictable.stream()
                .map(version -> new Candidate(
                        usage.lastUseMs(version), version.storedBytes(), () -> letGo(reservation, version)));
        Stream<Candidate> rows = survey.evictableRows.stream()
                .map(kept -> new Candidate(
                        kept.lastUse().toEpochMilli(), kept.storedBytes(), () -> letGo(reservation, kept)));
        List<Candidate> oldestFirst = Stream.concat(versions, rows)
                .sorted(Comparator.comparingLong(Candidate::lastUseMs))
                .toList();
        long missing = missingBytes;
        for (Candidate candidate : oldestFirst) {
            if (missing <= 0) {
                return;
            }
            if (candidate.letsGo().getAsBoolean()) {
                missing -= candidate.bytes();
            }
        }
    }

    private boolean letGo(Reservation reservation, PublishedVersion version) {
        if (!residency.letGo(version, false)) {
            return false;
        }
        reservation.noteEvicted(version);
        LOG.info(
                "evicted to make room: dataset={} version={} bytes={}",
                version.dataset(),
                version.version(),
                version.storedBytes());
        return true;
    }

    private boolean letGo(Reservation reservation, RegionFiles.Kept rows) {
        if (!store.regions().evict(rows)) {
            return false;
        }
        reservation.noteEvicted(rows.row().name(), rows.storedBytes());
        LOG.info("evicted to make room: rows={} bytes={}", rows.row().name(), rows.storedBytes());
        return true;
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

    private Failure notEnough(long neededBytes) {
        return Failure.of(ErrorCode.NO_SPACE, "not enough space")
                .with("needed", neededBytes)
                .with("free", store.freeBytes(residency::usedBytes));
    }

    /** Adds the room for indices and manifests on the mount: without it the numbers would contradict each other. */
    private Failure withSums(Failure failure, Reservation reservation) {
        return failure.with("reserved", store.reservedBytes())
                .with("capacity", store.capacityBytes())
                .with("metadata", reservation.metadataBytes());
    }

    private LarderException notEnough(Reservation reservation, long neededBytes, Survey survey) {
        String remedy = neededBytes > store.capacityBytes()
                ? "it is larger than the capacity: raise --capacity"
                : "end readers, unpin datasets, evict those that you no longer need, raise --capacity";
        Failure failure = notEnough(neededBytes)
                .with("evictable", survey.evictableBytes() + Residency.storedBytes(survey.awaited))
                .with("leased", Residency.storedBytes(survey.leased) + survey.heldRowBytes)
                .with("pinned", Residency.storedBytes(survey.pinned))
                .with("unsourced", Residency.storedBytes(survey.unsourced));
        return withSums(failure, reservation).remedy(remedy + ", or use a larger mount");
    }
}
