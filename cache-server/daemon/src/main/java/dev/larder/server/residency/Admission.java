package dev.larder.server.residency;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.RegionFiles;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Mount;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides whether a load may begin: if its bytes fit, or if they fit after evicting the least recently used data. Evictable are versions
 * that are not leased, not pinned and have a source, and computed rows that no process has open. If evicting all of them would not be
 * enough, nothing is evicted and the load is refused. Decides one load at a time. A version that was just announced to a client may delay a
 * load until the client has had time to lease it, but no longer if it is announced again. Thread-safe.
 */
final class Admission {
    private static final int MOST_NAMED = 3;
    private static final long PAUSE_MS = 50;
    private static final long MOST_PAUSES = Usage.PROTECTED_MS / PAUSE_MS;

    /** Time limit for freeing memory that another thread removes: unlinking small pages takes 0.2 s a GiB. */
    private static final long MOST_PAUSES_FOR_FREEING = 60_000 / PAUSE_MS;

    private static final Logger LOG = LoggerFactory.getLogger(Admission.class);

    private final Store store;
    private final Residency residency;
    private final Usage usage;
    private final LongSupplier clockMs;

    /** The data that could be evicted, and the reasons for keeping the rest. */
    private static final class Survey {
        private final List<PublishedVersion> evictable = new ArrayList<>();
        private final List<PublishedVersion> awaited = new ArrayList<>();
        private final List<PublishedVersion> leased = new ArrayList<>();
        private final List<PublishedVersion> pinned = new ArrayList<>();
        private final List<PublishedVersion> unsourced = new ArrayList<>();
        private final List<RegionFiles.Persistent> evictableRows = new ArrayList<>();
        private long heldRowBytes;

        long evictableBytes() {
            return Residency.storedBytes(evictable)
                    + evictableRows.stream()
                            .mapToLong(RegionFiles.Persistent::storedBytes)
                            .sum();
        }
    }

    /**
     * Evictable data.
     *
     * @param evict removes it; returns false if it has come into use
     */
    private record Candidate(long lastUseMs, long bytes, BooleanSupplier evict) {}

    Admission(Store store, Residency residency, Usage usage, LongSupplier clockMs) {
        this.store = store;
        this.residency = residency;
        this.usage = usage;
        this.clockMs = clockMs;
    }

    /** See {@link Residency#reserve(long, int, long, BooleanSupplier)}. */
    Reservation reserve(long neededBytes, int datasets, long arrays, BooleanSupplier hasClients) {
        Reservation reservation = store.newReservation((growing, moreBytes) -> grow(growing, moreBytes, hasClients));
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
                                "evict datasets that you no longer need with larder evict (computed ones cannot be loaded again),"
                                        + " or raise --capacity");
            }
        });
    }

    /** Reserves more space, or fails with all numbers and changes nothing; see {@link Reservation#grow}. */
    void grow(Reservation reservation, long moreBytes, BooleanSupplier hasClients) {
        for (int pauses = 0; !tryGrow(reservation, moreBytes, pauses); pauses++) {
            pause(); // outside the lock, so that other loads can be decided meanwhile
            if (!hasClients.getAsBoolean()) {
                throw new CancellationException("every client has left a load that waited for space");
            }
        }
    }

    /** Returns false if it is worth trying again after a pause. Never does so indefinitely. */
    private synchronized boolean tryGrow(Reservation reservation, long moreBytes, int pauses) {
        if (store.tryGrow(reservation, moreBytes, residency::usedBytes)) {
            return true;
        }
        residency.removeRetired();
        while (!store.tryGrow(reservation, moreBytes, residency::usedBytes)) {
            Survey survey = survey(pauses < MOST_PAUSES);
            long freeing = pauses < MOST_PAUSES_FOR_FREEING ? residency.freeingBytes() : 0;
            long missing = store.missingBytes(reservation, moreBytes, residency::usedBytes);
            if (freeing > 0 && missing <= freeing) {
                return false;
            } else if (missing <= survey.evictableBytes()) {
                evict(reservation, survey, missing);
            } else if (missing <= survey.evictableBytes() + Residency.storedBytes(survey.awaited) + freeing) {
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
        for (RegionFiles.Persistent rows : store.regions().persistent()) {
            if (rows.isEvictable()) {
                survey.evictableRows.add(rows);
            } else {
                survey.heldRowBytes += rows.storedBytes();
            }
        }
        return survey;
    }

    /** Evicts the least recently used data first, until enough is free. Data that has come into use stays. */
    private void evict(Reservation reservation, Survey survey, long missingBytes) {
        Stream<Candidate> versions = survey.evictable.stream()
                .map(version -> new Candidate(
                        usage.lastUseMs(version), version.storedBytes(), () -> evict(reservation, version)));
        Stream<Candidate> rows = survey.evictableRows.stream()
                .map(region -> new Candidate(
                        region.lastUse().toEpochMilli(), region.storedBytes(), () -> evict(reservation, region)));
        List<Candidate> oldestFirst = Stream.concat(versions, rows)
                .sorted(Comparator.comparingLong(Candidate::lastUseMs))
                .toList();
        long missing = missingBytes;
        for (Candidate candidate : oldestFirst) {
            if (missing <= 0) {
                return;
            }
            if (candidate.evict().getAsBoolean()) {
                missing -= candidate.bytes();
            }
        }
    }

    private boolean evict(Reservation reservation, PublishedVersion version) {
        if (!residency.tryEvict(version, false)) {
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

    private boolean evict(Reservation reservation, RegionFiles.Persistent rows) {
        if (!store.regions().evict(rows)) {
            return false;
        }
        reservation.noteEvicted(rows.row().name(), rows.storedBytes());
        LOG.info("evicted to make room: rows={} bytes={}", rows.row().name(), rows.storedBytes());
        return true;
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "load was interrupted while it waited for space")
                    .cause(e)
                    .exception();
        }
    }

    private Failure notEnough(long neededBytes) {
        return Failure.of(ErrorCode.NO_SPACE, "not enough space")
                .with("needed", neededBytes)
                .with("free", store.freeBytes(residency::usedBytes));
    }

    /** Adds the space for indices and manifests on the mount, without which the numbers would not add up. */
    private Failure withSums(Failure failure, Reservation reservation) {
        return failure.with("reserved", store.reservedBytes())
                .with("capacity", store.capacityBytes())
                .with("metadata", reservation.metadataBytes());
    }

    private LarderException notEnough(Reservation reservation, long neededBytes, Survey survey) {
        String remedy = neededBytes > store.capacityBytes()
                ? "it is larger than the capacity: raise --capacity"
                : "end readers, unpin datasets, evict those that you no longer need" + computed(survey)
                        + ", raise --capacity";
        Failure failure = notEnough(neededBytes)
                .with("evictable", survey.evictableBytes() + Residency.storedBytes(survey.awaited))
                .with("leased", Residency.storedBytes(survey.leased) + survey.heldRowBytes)
                .with("pinned", Residency.storedBytes(survey.pinned))
                .with("unsourced", Residency.storedBytes(survey.unsourced));
        return withSums(failure, reservation).remedy(remedy + ", or use " + largerPlace(neededBytes));
    }

    /** Names the largest computed datasets: without a source they leave only on request. */
    private static String computed(Survey survey) {
        if (survey.unsourced.isEmpty()) {
            return "";
        }
        return survey.unsourced.stream()
                .sorted(Comparator.comparingLong(PublishedVersion::storedBytes).reversed())
                .limit(MOST_NAMED)
                .map(PublishedVersion::dataset)
                .collect(Collectors.joining(", ", " (the largest computed ones, which do not come back: ", ")"));
    }

    /** Describes a place that has more room: a store on a disk, if this one is in memory and the usual disk can hold the data. */
    private String largerPlace(long neededBytes) {
        Path disk = StoreLocation.PLACES.get(1);
        boolean isInMemory = isVolatile(store.layout().root());
        boolean isOnDisk = Files.isWritable(disk) && !isVolatile(disk);
        return isInMemory && isOnDisk && Posix.system().space(disk).freeBytes() > neededBytes
                ? "a store on a disk, which has room for it: --store "
                        + disk.resolve("larder-" + StoreLocation.userName())
                : "a larger mount";
    }

    private static boolean isVolatile(Path folder) {
        return Mount.of(folder).filter(Mount::isVolatile).isPresent();
    }
}
