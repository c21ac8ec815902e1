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
 * Moves what lies on small pages to huge ones, in the background: what an earlier daemon left, what clients wrote, and what was loaded
 * when the kernel had no huge page to spare. Stands back while {@code mayMove} says no. Knows how much is on huge pages. Works on one
 * thread, which it is given.
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
    private final AtomicBoolean isComing = new AtomicBoolean();

    /** What is known of each version, by its folder, which no other version ever has. */
    private final ConcurrentMap<Path, Moving> known = new ConcurrentHashMap<>();

    // What follows belongs to the thread.

    private Backoff retries;
    private long retryAtNs = System.nanoTime();
    private @Nullable ScheduledFuture<?> later;

    /**
     * When it tries again.
     *
     * @param moves whether it moves anything; else it only counts
     * @param postponed after it had to stand back
     * @param firstRetry after the kernel refused something, and twice as long each time from then on: memory is put in order slowly
     * @param longestRetry the end of that
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

    /** Returns how many bytes of all versions are on huge pages, as far as they have been looked at. */
    long hugeBytes() {
        return known.values().stream().mapToLong(moving -> moving.hugePieces).sum() * VersionPages.PIECE_BYTES;
    }

    /** Returns for how many bytes the kernel refused huge pages when it was last asked. */
    long refusedBytes() {
        return known.values().stream().mapToLong(moving -> moving.refusedPieces).sum() * VersionPages.PIECE_BYTES;
    }

    /** Looks for what is new as soon as the thread can. */
    void soon() {
        if (isComing.compareAndSet(false, true)) {
            try {
                thread.execute(() -> {
                    isComing.set(false);
                    look();
                });
            } catch (RejectedExecutionException stopped) {
                return; // nobody reads what goes away
            }
        }
    }

    private void look() {
        if (!isStopping.getAsBoolean()) {
            Guarded.run(this::addNew, onFailure);
            moveWhatIsDue();
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

    private void moveWhatIsDue() {
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
            lookAgainIn(pace.postponed().toNanos());
        } else if (isLeft) {
            if (isRetry) {
                retryAtNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(retries.nextMillis());
            }
            lookAgainIn(retryAtNs - System.nanoTime());
        }
    }

    /** There is never more than one look that is to come later. */
    private void lookAgainIn(long nanos) {
        if (later != null) {
            later.cancel(false);
        }
        try {
            later = thread.schedule(this::look, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException stopped) {
            return;
        }
    }

    private boolean mayGoOn() {
        return !isStopping.getAsBoolean() && mayMove.getAsBoolean();
    }

    /** One version on its way to huge pages. */
    private final class Moving {
        /** A pass ends after so many new refusals: the next one goes on behind them. */
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

        /** Finds out how much is huge; where all is, nothing is left to ask for. */
        void count() {
            hugePieces = pages.hugePieces(() -> !isStopping.getAsBoolean());
            if (hugePieces == pages.pieces()) {
                next = hugePieces;
            }
        }

        boolean isWhole() {
            return next == pages.pieces() && refused.isEmpty();
        }

        /** Asks for what was refused before, then for what was not asked for yet; leaves {@code isTried} false where it has to stand back. */
        void move() {
            isTried = false;
            try {
                isTried = askAgain() && askOn();
            } catch (RuntimeException e) {
                isTried = true; // until the next retry
                throw e;
            } finally {
                hugePieces = Math.max(hugePieces, next - refused.size());
                refusedPieces = refused.size();
            }
        }

        private boolean askAgain() {
            for (Iterator<Long> again = refused.iterator(); again.hasNext(); ) {
                if (!mayGoOn()) {
                    return false;
                }
                if (collapse(again.next())) {
                    again.remove();
                }
            }
            return true;
        }

        /** Leaves most of a processor to others: it pauses for several times as long as it has worked. */
        private boolean collapse(long piece) {
            long start = System.nanoTime();
            boolean isHuge = pages.collapse(piece);
            LockSupport.parkNanos(PAUSE_FACTOR * (System.nanoTime() - start));
            return isHuge;
        }

        private boolean askOn() {
            for (int before = refused.size();
                    next < pages.pieces() && refused.size() < before + MOST_REFUSALS;
                    next++) {
                if (!mayGoOn()) {
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
