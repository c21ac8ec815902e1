package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Progress.Phase;
import dev.larder.server.control.Reply;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.Loads;
import dev.larder.server.ingest.Recheck;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.version.PublishedVersion;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The clients that wait for a dataset to become resident. Thread-safe; waiting costs no thread. */
final class PendingWaits {
    private final Residency residency;
    private final Loads loads;
    private final LoadService loadService;
    private final Maintenance maintenance;
    private final ScheduledExecutorService timer;
    private volatile boolean closed;
    private final Map<String, Set<Wait>> unknown = new HashMap<>();

    /**
     * A request that waits for a dataset or an array.
     *
     * @param evenIfUnknown whether it waits for a dataset that the daemon neither loads nor will load
     */
    private record Wait(String name, boolean evenIfUnknown, Reply reply) {
        String dataset() {
            return Names.datasetIn(name);
        }

        /** Returns the array; null for a whole dataset. */
        @Nullable
        String array() {
            return Names.arrayIn(name);
        }

        boolean isIn(PublishedVersion version) {
            String array = array();
            return array == null || version.has(array);
        }
    }

    PendingWaits(
            Residency residency,
            Loads loads,
            LoadService loadService,
            Maintenance maintenance,
            ScheduledExecutorService timer) {
        this.residency = residency;
        this.loads = loads;
        this.loadService = loadService;
        this.maintenance = maintenance;
        this.timer = timer;
    }

    /**
     * Answers when {@code name}, a dataset or an array, is resident. Answers immediately if it is resident or no load can provide it.
     * Checks every file of a resident dataset, so the control thread must not call this for one.
     */
    void await(String name, Duration timeout, boolean evenIfUnknown, Reply reply) {
        Wait wait = new Wait(name, evenIfUnknown, reply);
        maintenance.repairIfDamaged(wait.dataset()); // a client sends this only if it could not open the dataset itself
        if (answerIfKnown(wait, () -> expireAfter(timeout, wait))) {
            return;
        }
        if (evenIfUnknown || loadService.isLoadedApart(wait.dataset())) {
            awaitUnknown(wait, timeout);
            return;
        }
        reply.problem(residency.noSuchDataset(wait.dataset()));
    }

    /** Answers for a resident dataset or follows a load. Returns false if there is neither. */
    private boolean answerIfKnown(Wait wait, Runnable beforeFollowing) {
        Optional<Ingest> load = loads.find(wait.dataset());
        Optional<PublishedVersion> resident = residency.find(wait.dataset());
        if (resident.isPresent() && (wait.isIn(resident.get()) || load.isEmpty())) {
            answer(resident.get(), wait);
            return true;
        }
        Optional<? extends Ingest> starting =
                load.isPresent() ? load : loadService.readThrough(wait.dataset(), wait.reply.peer());
        starting.ifPresent(found -> {
            beforeFollowing.run();
            follow(found, wait);
        });
        if (starting.isEmpty()) { // it may have been registered at the first check, and resident again at the second
            resident = residency.find(wait.dataset()).filter(wait::isIn);
            resident.ifPresent(version -> answer(version, wait));
        }
        return starting.isPresent() || resident.isPresent();
    }

    private void awaitUnknown(Wait wait, Duration timeout) {
        Runnable noExpiry = expireAfter(timeout, wait);
        synchronized (this) { // a load that begins after the progress finds the wait
            wait.reply.progress(Progress.of(Phase.WAITING, wait.name, "no load of it has begun"));
            add(wait);
        }
        // A load may have begun, or even ended, between the first check and the entry in the list.
        boolean isKnown = loads.find(wait.dataset()).isPresent()
                || residency.find(wait.dataset()).isPresent();
        if (isKnown && forget(wait)) {
            noExpiry.run();
            answerIfKnown(wait, () -> expireAfter(timeout, wait));
        }
        endUnexpected();
    }

    /** Ends the waits for datasets that were loaded one by one, and no longer are: the loads may have failed before these waits. */
    void endUnexpected() {
        List<Wait> unexpected;
        synchronized (this) {
            unexpected = unknown.values().stream()
                    .flatMap(Set::stream)
                    .filter(wait -> !wait.evenIfUnknown && !loadService.isLoadedApart(wait.dataset()))
                    .toList();
        }
        for (Wait wait : unexpected) {
            if (forget(wait)) {
                answerAgain(wait, residency.noSuchDataset(wait.dataset()));
            }
        }
    }

    /** The listeners are removed when the exchange ends, which may be long before the load ends. */
    private void follow(Ingest load, Wait wait) {
        if (loadService.isTriedAgain(load)) {
            add(wait); // now: when the listener below is called, the next load may have begun, and even failed
        }
        wait.reply.onEnd(load.listen(wait.reply::progress));
        wait.reply.onEnd(load.whenEnded((done, failure) -> {
            Optional<PublishedVersion> resident = residency.find(wait.dataset());
            if (failure != null && load instanceof Recheck) {
                answerAgain(wait, failure);
            } else if (failure != null && isGivenUp(failure)) {
                wait.reply.problem(closed ? stopping() : didNotArrive(wait, resident, (LarderException) failure));
            } else if (failure != null && loadService.isTriedAgain(load)) {
                awaitNext(wait, load, failure);
            } else if (failure != null) {
                wait.reply.problem(failure);
            } else if (resident.isPresent()) {
                answer(resident.get(), wait);
            } else if (residency.registration(wait.dataset()).isPresent()) {
                wait.reply.done(Done.NOTHING); // it was resident, and was evicted for another load: a client that still
                // needs it sends another request
            } else {
                wait.reply.problem(Failure.of(ErrorCode.NOT_FOUND, "dataset was removed as soon as it was loaded")
                        .with("dataset", wait.dataset())
                        .remedy("load it again"));
            }
        }));
    }

    /** Waits for the next load of the dataset, within the remaining time. It may have begun before the wait for this one. */
    private void awaitNext(Wait wait, Ingest failed, Throwable failure) {
        boolean isKnown =
                loads.find(wait.dataset()).filter(load -> load != failed).isPresent()
                        || residency.find(wait.dataset()).isPresent();
        if (isKnown && forget(wait) && !answerIfKnown(wait, () -> {})) {
            wait.reply.problem(failure);
        }
        endUnexpected();
    }

    /** Returns whether another client was interrupted, ended or gave up; the wait itself did not. */
    private static boolean isGivenUp(Throwable failure) {
        return failure instanceof LarderException known && known.code() == ErrorCode.INTERRUPTED;
    }

    private static LarderException didNotArrive(
            Wait wait, Optional<PublishedVersion> resident, LarderException reason) {
        String array = wait.array();
        if (array != null && resident.isPresent()) {
            return resident.get().noSuchArray(array);
        }
        return Failure.of(ErrorCode.NOT_FOUND, "dataset did not arrive")
                .with("dataset", wait.dataset())
                .with("reason", reason.summary())
                .cause(reason)
                .remedy("build or load it again; larder wait " + wait.dataset()
                        + " waits for another process to do so");
    }

    /** A dataset may be loaded again after a failure, within the remaining time. */
    private void answerAgain(Wait wait, Throwable failure) {
        try {
            boolean isHeldBack = residency.unverified().find(wait.dataset()).isPresent();
            if (isHeldBack || !answerIfKnown(wait, () -> {})) {
                wait.reply.problem(failure);
            }
        } catch (RuntimeException | Error e) {
            wait.reply.problem(e);
        }
    }

    /** Has the next load of the dataset followed, until the wait is answered. */
    private synchronized void add(Wait wait) {
        unknown.computeIfAbsent(wait.dataset(), key -> new LinkedHashSet<>()).add(wait);
        wait.reply.onEnd(() -> forget(wait));
    }

    private synchronized boolean forget(Wait wait) {
        Set<Wait> waits = unknown.get(wait.dataset());
        if (waits == null || !waits.remove(wait)) {
            return false;
        }
        if (waits.isEmpty()) {
            unknown.remove(wait.dataset());
        }
        return true;
    }

    /** Connects waiting clients to a load of their dataset that has just started. Their timeouts continue. */
    void started(Ingest load) {
        for (String dataset : load.datasets()) {
            Set<Wait> waits;
            synchronized (this) {
                waits = Optional.ofNullable(unknown.remove(dataset)).orElse(Set.of());
            }
            waits.forEach(wait -> follow(load, wait));
        }
    }

    /** Ends every wait that no load will end. Loads that end from now on end because the daemon stops. */
    synchronized void close() {
        closed = true;
        List<Wait> all = unknown.values().stream().flatMap(Set::stream).toList();
        unknown.clear();
        for (Wait wait : all) {
            wait.reply.problem(stopping());
        }
    }

    private static LarderException stopping() {
        return Failure.of(ErrorCode.NO_DAEMON, "the daemon is stopping").remedy(Remedy.START_DAEMON);
    }

    /** Starts the timeout, which ends with the exchange. Returns an action that cancels it. */
    private Runnable expireAfter(Duration timeout, Wait wait) {
        ScheduledFuture<?> expiry = timer.schedule(
                () -> wait.reply.problem(Failure.of(ErrorCode.DEADLINE, "dataset did not become resident in time")
                        .with("name", wait.name)
                        .with("timeoutMs", timeout.toMillis())
                        .remedy("give a longer timeout, or check larder ls --all")),
                timeout.toMillis(),
                TimeUnit.MILLISECONDS);
        Runnable noExpiry = () -> expiry.cancel(false);
        wait.reply.onEnd(noExpiry);
        return noExpiry;
    }

    private void answer(PublishedVersion version, Wait wait) {
        String array = wait.array();
        if (array == null || version.has(array)) {
            residency.protect(version);
            wait.reply.done(Done.of(version.arrays().size(), version.dataBytes(), ""));
        } else {
            wait.reply.problem(version.noSuchArray(array));
        }
    }
}
