package dev.larder.server;

import dev.larder.internal.time.Backoff;
import dev.larder.server.store.VersionPages;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Moves data from small pages to huge ones, in the background: data of an earlier daemon, files that clients wrote, and loads made while
 * the kernel had no free huge page. Pauses while {@code mayMove} returns false. Counts the bytes on huge pages. Runs on a thread that it is
 * given.
 */
final class PageCollapse {
    private static final int PAUSE_FACTOR = 3;

    private final Supplier<List<PublishedVersion>> versions;
    private final Function<PublishedVersion, VersionPages> pagesOf;
    private final BooleanSupplier mayMove;
    private final BooleanSupplier isStopping;
    private final Pace pace;
    private final ScheduledExecutorService thread;
    private final Consumer<Throwable> onFailure;
    private final AtomicBoolean isScheduled = new AtomicBoolean();

    /** The state of each version, by its folder, which is never used by another version. */
    private final ConcurrentMap<Path, Moving> known = new ConcurrentHashMap<>();

    // The fields below belong to the thread.

    private Backoff retries;
    private long retryAtNs = System.nanoTime();
    private @Nullable ScheduledFuture<?> later;

    /**
     * The times of further attempts.
     *
     * @param moves whether it moves data; otherwise it only counts
     * @param postponed the delay after it had to pause
     * @param firstRetry the delay after the kernel refused a piece; doubled each time, because memory is defragmented slowly
     * @param longestRetry the longest such delay
     */
    record Pace(boolean moves, Duration postponed, Duration firstRetry, Duration longestRetry) {
        static Pace usual(boolean moves) {
            return new Pace(moves, Duration.ofSeconds(1), Duration.ofMinutes(1), Duration.ofHours(1));
        }

        private Backoff retries() {
            return new Backoff(firstRetry, longestRetry);
        }
    }

    PageCollapse(
            Supplier<List<PublishedVersion>> versions,
            Function<PublishedVersion, VersionPages> pagesOf,
            BooleanSupplier mayMove,
            BooleanSupplier isStopping,
            Pace pace,
            ScheduledExecutorService thread,
            Consumer<Throwable> onFailure) {
        this.versions = versions;
        this.pagesOf = pagesOf;
        this.mayMove = mayMove;
        this.isStopping = isStopping;
        this.pace = pace;
        this.thread = thread;
        this.onFailure = onFailure;
        this.retries = pace.retries();
    }

    /** Returns how many bytes of all versions are on huge pages, as far as they have been counted. */
    long hugeBytes() {
        return known.values().stream().mapToLong(moving -> moving.hugePieces).sum() * VersionPages.PIECE_BYTES;
    }

    /** Returns how many bytes were refused huge pages at the last attempt. */
    long refusedBytes() {
        return known.values().stream().mapToLong(moving -> moving.refusedPieces).sum() * VersionPages.PIECE_BYTES;
    }

    /** Looks for new versions as soon as the thread is free. */
    void soon() {
        if (isScheduled.compareAndSet(false, true)) {
            try {
                thread.execute(() -> {
                    isScheduled.set(false);
                    run();
                });
            } catch (RejectedExecutionException stopped) {
                return; // the daemon is ending, so its pages do not matter
            }
        }
    }

    private void run() {
        if (!isStopping.getAsBoolean()) {
            Guarded.run(this::addNew, onFailure);
            moveDue();
        }
    }

    private void addNew() {
        List<PublishedVersion> all = versions.get();
        Set<Path> folders = all.stream().map(PublishedVersion::folder).collect(Collectors.toSet());
        known.keySet().retainAll(folders);
        for (PublishedVersion version : all) {
            if (!known.containsKey(version.folder())) {
                retries = pace.retries();
                Moving moving = new Moving(pagesOf.apply(version));
                known.put(version.folder(), moving);
                Guarded.run(moving::count, onFailure);
            }
        }
    }

    private void moveDue() {
        if (!pace.moves()) {
            return;
        }
        boolean isRetry = System.nanoTime() - retryAtNs >= 0;
        boolean isPostponed = false;
        boolean isLeft = false;
        for (Moving moving : known.values()) {
            if (!moving.isWhole() && (isRetry || !moving.isTried)) {
                Guarded.run(moving::move, onFailure);
                isPostponed |= !moving.isTried;
            }
            isLeft |= !moving.isWhole();
        }
        if (isPostponed) {
            runIn(pace.postponed().toNanos());
        } else if (isLeft) {
            if (isRetry) {
                retryAtNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(retries.nextMillis());
            }
            runIn(retryAtNs - System.nanoTime());
        }
    }

    /** At most one later attempt is scheduled. */
    private void runIn(long nanos) {
        if (later != null) {
            later.cancel(false);
        }
        try {
            later = thread.schedule(this::run, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException stopped) {
            return;
        }
    }

    private boolean mayContinue() {
        return !isStopping.getAsBoolean() && mayMove.getAsBoolean();
    }

    /** One version and its progress. */
    private final class Moving {
        /** A pass ends after this many new refusals; the next pass continues behind them. */
        private static final int MOST_REFUSALS = 16;

        private final VersionPages pages;
        private final List<Long> refused = new ArrayList<>();
        private long next;
        private boolean isTried;
        private volatile long hugePieces;
        private volatile long refusedPieces;

        Moving(VersionPages pages) {
            this.pages = pages;
        }

        /** Counts the huge pieces. If all are huge, nothing is left to move. */
        void count() {
            hugePieces = pages.hugePieces(() -> !isStopping.getAsBoolean());
            if (hugePieces == pages.pieces()) {
                next = hugePieces;
            }
        }

        boolean isWhole() {
            return next == pages.pieces() && refused.isEmpty();
        }

        /** Tries the refused pieces again, then the next ones. Leaves {@code isTried} false if it has to pause. */
        void move() {
            isTried = false;
            try {
                isTried = retryRefused() && tryNext();
            } catch (RuntimeException e) {
                isTried = true; // no further attempt before the next retry
                throw e;
            } finally {
                hugePieces = Math.max(hugePieces, next - refused.size());
                refusedPieces = refused.size();
            }
        }

        private boolean retryRefused() {
            for (Iterator<Long> again = refused.iterator(); again.hasNext(); ) {
                if (!mayContinue()) {
                    return false;
                }
                if (collapse(again.next())) {
                    again.remove();
                }
            }
            return true;
        }

        /** Moves a piece, then pauses for several times as long, so that other threads have most of the processor. */
        private boolean collapse(long piece) {
            long start = System.nanoTime();
            boolean isHuge = pages.collapse(piece);
            LockSupport.parkNanos(PAUSE_FACTOR * (System.nanoTime() - start));
            return isHuge;
        }

        private boolean tryNext() {
            for (int before = refused.size();
                    next < pages.pieces() && refused.size() < before + MOST_REFUSALS;
                    next++) {
                if (!mayContinue()) {
                    return false;
                }
                if (!collapse(next)) {
                    refused.add(next);
                }
            }
            return true;
        }
    }
}
