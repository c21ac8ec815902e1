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

/** The clients that wait for a dataset to become resident. Thread-safe; nobody polls. */
final class PendingWaits {
    private final Residency residency;
    private final Loads loads;
    private final LoadService loadService;
    private final Maintenance maintenance;
    private final ScheduledExecutorService timer;
    private volatile boolean closed;
    private final Map<String, Set<Wait>> unknown = new HashMap<>();

    /** A client and what it waits for: a dataset, or an array of it. */
    private record Wait(String name, Reply reply) {
        String dataset() {
            return Names.datasetIn(name);
        }

        /** Returns the array that is waited for; null where it is a whole dataset. */
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
     * Answers when {@code name}, a dataset or an array, is resident; at once where that is certain or hopeless. Looks at every file of
     * what is resident, so this is not for the control thread then.
     */
    void await(String name, Duration timeout, boolean evenIfUnknown, Reply reply) {
        Wait wait = new Wait(name, reply);
        maintenance.repairIfDamaged(wait.dataset()); // why else would a client ask for what it could open itself?
        if (answerIfKnown(wait, () -> expireAfter(timeout, wait))) {
            return;
        }
        if (evenIfUnknown) {
            awaitUnknown(wait, timeout);
            return;
        }
        reply.problem(residency.noSuchDataset(wait.dataset()));
    }

    /** Answers for what is resident, follows what is loading; false where it is neither. */
    private boolean answerIfKnown(Wait wait, Runnable beforeFollowing) {
        Optional<Ingest> load = loads.find(wait.dataset());
        Optional<PublishedVersion> resident = residency.find(wait.dataset());
        if (resident.isPresent() && (wait.isIn(resident.get()) || load.isEmpty())) {
            answer(resident.get(), wait);
            return true;
        }
        Optional<? extends Ingest> coming =
                load.isPresent() ? load : loadService.readThrough(wait.dataset(), wait.reply.peer());
        coming.ifPresent(found -> {
            beforeFollowing.run();
            follow(found, wait);
        });
        if (coming.isEmpty()) { // it may have been registered at the first look, and resident again at the second
            resident = residency.find(wait.dataset()).filter(wait::isIn);
            resident.ifPresent(version -> answer(version, wait));
        }
        return coming.isPresent() || resident.isPresent();
    }

    private void awaitUnknown(Wait wait, Duration timeout) {
        wait.reply.progress(Progress.of(Phase.WAITING, wait.name, "no load of it has begun"));
        Runnable noExpiry = expireAfter(timeout, wait);
        add(wait);
        wait.reply.onEnd(() -> forget(wait));
        // A load may have begun, or even ended, between the first look and the entry in the list.
        boolean isKnown = loads.find(wait.dataset()).isPresent()
                || residency.find(wait.dataset()).isPresent();
        if (isKnown && forget(wait)) {
            noExpiry.run();
            answerIfKnown(wait, () -> expireAfter(timeout, wait));
        }
    }

    /** What the load keeps of the client ends with the exchange, which may be long before the load does. */
    private void follow(Ingest load, Wait wait) {
        wait.reply.onEnd(load.listen(wait.reply::progress));
        wait.reply.onEnd(load.whenEnded((done, failure) -> {
            Optional<PublishedVersion> resident = residency.find(wait.dataset());
            if (failure != null && load instanceof Recheck) {
                answerAgain(wait, failure);
            } else if (failure != null && isGivenUp(failure)) {
                wait.reply.problem(closed ? stopping() : didNotArrive(wait, resident, (LarderException) failure));
            } else if (failure != null) {
                wait.reply.problem(failure);
            } else if (resident.isPresent()) {
                answer(resident.get(), wait);
            } else if (residency.registration(wait.dataset()).isPresent()) {
                wait.reply.done(
                        Done.NOTHING); // it was resident, and left for another: whoever still wants it asks again
            } else {
                wait.reply.problem(Failure.of(ErrorCode.NOT_FOUND, "dataset was removed as soon as it was loaded")
                        .with("dataset", wait.dataset())
                        .remedy("load it again"));
            }
        }));
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

    /** What was found damaged may be loaded again, within the time that is left. */
    private void answerAgain(Wait wait, Throwable damage) {
        try {
            boolean isHeldBack = residency.heldBack().find(wait.dataset()).isPresent();
            if (isHeldBack || !answerIfKnown(wait, () -> {})) {
                wait.reply.problem(damage);
            }
        } catch (RuntimeException | Error e) {
            wait.reply.problem(e);
        }
    }

    private synchronized void add(Wait wait) {
        unknown.computeIfAbsent(wait.dataset(), key -> new LinkedHashSet<>()).add(wait);
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

    /** Tells those who wait for what nobody was loading that somebody now is. Their clocks go on. */
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

    /** Starts the clock, which stops with the exchange; returns what stops it before. */
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
            residency.noteAsked(version);
            wait.reply.done(Done.of(version.arrays().size(), version.dataBytes(), ""));
        } else {
            wait.reply.problem(version.noSuchArray(array));
        }
    }
}
