package dev.larder.internal.control;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.RegionRequest;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.internal.protocol.Response.ArrayRows;
import dev.larder.internal.protocol.Response.ErrorRows;
import dev.larder.internal.protocol.Response.LoadRows;
import dev.larder.internal.protocol.Response.RegionRows;
import dev.larder.internal.protocol.Response.ServiceInfo;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Asks the daemon of a store. Each call is a connection of its own: it needs no closing, calls from several threads do not
 * meet, and interrupting the thread cancels what the daemon does for it.
 *
 * <p>Where no daemon answers, calls fail with {@link dev.larder.error.ErrorCode#NO_DAEMON}; what the daemon refuses carries
 * the daemon's own code and message; a daemon that falls silent ends in {@link dev.larder.error.ErrorCode#DEADLINE}.
 */
public final class ControlClient {
    private static final Duration SILENCE = Duration.ofSeconds(10);

    /** How much longer than it may wait the daemon has to say that it waited in vain. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    /** The daemon answers a question in a moment, unless it hangs or much waits before. */
    private static final Duration LONGEST_ANSWER = Duration.ofMinutes(1);

    private final Path store;
    private final Duration silence;
    private final Duration longestAnswer;

    private ControlClient(Path store, Duration silence, Duration longestAnswer) {
        this.store = store;
        this.silence = silence;
        this.longestAnswer = longestAnswer;
    }

    /** Addresses the daemon of a store; nothing is asked yet. */
    public static ControlClient at(Path store) {
        return new ControlClient(store, SILENCE, LONGEST_ANSWER);
    }

    /** Returns a client that gives up when the daemon has said nothing for this long, instead of ten seconds. */
    public ControlClient patientFor(Duration longestSilence) {
        return new ControlClient(store, longestSilence, longestAnswer);
    }

    /** Returns a client that waits so long for rows and totals, heartbeats or not, instead of a minute. */
    public ControlClient answeredWithin(Duration limit) {
        return new ControlClient(store, silence, limit);
    }

    /** Returns a client that is as patient as this one, but not beyond the time that its caller has, and a second. */
    public ControlClient patientWithin(Duration timeLeft) {
        return timeLeft.compareTo(silence.minus(GRACE)) < 0 ? patientFor(timeLeft.plus(GRACE)) : this;
    }

    /** Returns which daemon is there. */
    public ServiceInfo info() {
        return answer(new Request.GetInfo(), ServiceInfo.class, Deadline.after(silence));
    }

    /** Loads sources and returns when all of them are resident. */
    public Done load(LoadRequest request, ProgressListener listener) {
        return exchange(request, listener);
    }

    /** Waits until a dataset or an array is resident; NOT_FOUND names near ones. */
    public Done await(String name, Duration timeout, ProgressListener listener) {
        return await(new Request.Wait(name, timeout, false), listener);
    }

    /** Waits until a dataset or an array is resident, also where nobody has loaded it yet. */
    public Done awaitEvenIfUnknown(String name, Duration timeout, ProgressListener listener) {
        return await(new Request.Wait(name, timeout, true), listener);
    }

    /**
     * Waits for the turn to build a dataset.
     *
     * @return nothing where the dataset is resident, and the request does not ask for a new version of it
     */
    public Optional<BuildTurn> create(Request.Create request, ProgressListener listener) {
        Persistence persistence = new Persistence(request.timeout(), request.name(), listener);
        while (true) {
            Duration left = persistence.timeLeft();
            ControlConnection connection = persistence.connect();
            try {
                connection.call(request.within(left));
                Optional<Build> build = connection.awaitTurn(listener, Deadline.after(left.plus(GRACE)));
                if (build.isEmpty()) {
                    connection.close();
                }
                return build.map(turn -> new BuildTurn(connection, turn));
            } catch (LarderException e) {
                connection.close();
                persistence.requireLost(connection, e);
            } catch (RuntimeException | Error e) {
                connection.close();
                throw e;
            }
        }
    }

    /** Lists arrays whose full name starts with the prefix; the empty prefix lists all. */
    public List<ArrayRow> list(String prefix, boolean includeRetired) {
        return rows(new Request.ListArrays(prefix, includeRetired), ArrayRows.class, ArrayRows::arrays);
    }

    /** Describes one array, or all arrays of one dataset; never empty. */
    public List<ArrayRow> info(String name) {
        return rows(new Request.Info(name), ArrayRows.class, ArrayRows::arrays);
    }

    /** Removes the newest version of a dataset; what has a source comes back when somebody asks for it. */
    public Done evict(String name) {
        return exchange(new Request.Evict(name, false), ProgressListener.NONE);
    }

    /** Removes the newest version of a dataset, and forgets where it came from. */
    public Done forget(String name) {
        return exchange(new Request.Evict(name, true), ProgressListener.NONE);
    }

    /** Notes what a resident shard is a part of. */
    public Done noteWhole(String name, String digest, String of) {
        return exchange(new Request.NoteWhole(name, digest, of), ProgressListener.NONE);
    }

    /** Keeps a dataset resident until it is unpinned. */
    public Done pin(String name) {
        return exchange(new Request.Pin(name, true), ProgressListener.NONE);
    }

    /** Lets a dataset go again when room is needed. */
    public Done unpin(String name) {
        return exchange(new Request.Pin(name, false), ProgressListener.NONE);
    }

    /** Returns how far each load and build is that is under way, named by its datasets. */
    public List<Progress> loads() {
        return rows(new Request.Loads(), LoadRows.class, LoadRows::loads);
    }

    /** Returns the errors that the daemon has met, one for each kind, the one seen last at the end. */
    public List<ErrorRow> errors() {
        return rows(new Request.Errors(), ErrorRows.class, ErrorRows::errors);
    }

    /** Computes checksums again and compares; the empty name means everything. */
    public Done verify(String name, ProgressListener listener) {
        return exchange(new Request.Verify(name, false), listener);
    }

    /**
     * Computes checksums again, reads the sources too, and compares: CHECKSUM names what differs, BAD_INPUT what is missing.
     */
    public Done verifyAgainstSources(String name, ProgressListener listener) {
        return exchange(new Request.Verify(name, true), listener);
    }

    /** Loads a dataset again, from where and in the way it was loaded, however its sources look. */
    public Done reload(String name, ProgressListener listener) {
        return exchange(new Request.Reload(name), listener);
    }

    /** Makes a region of zeros, unless one of this name is there: describes what is there then. */
    public RegionRow createRegion(String name, String kind, long bytes, boolean withoutFile) {
        List<RegionRow> made = rows(
                new RegionRequest.Create(name, kind, bytes, withoutFile),
                Deadline.none(),
                RegionRows.class,
                RegionRows::regions);
        if (made.size() != 1) {
            throw Failure.of(ErrorCode.UNEXPECTED, "the daemon's answer does not match the request")
                    .with("regions", made.size())
                    .with("store", store)
                    .remedy(Protocol.useOneRelease());
        }
        return made.get(0);
    }

    /** Describes the region of this name, if there is one; the empty name means all. */
    public List<RegionRow> regions(String name) {
        return rows(new RegionRequest.ListAll(name), RegionRows.class, RegionRows::regions);
    }

    /** Takes a region's name away, where it has this id; 0 stands for any. Those who have it go on. */
    public Done removeRegion(String name, long id) {
        return exchange(new RegionRequest.Remove(name, id), ProgressListener.NONE);
    }

    /** Returns totals. */
    public DaemonStatus status() {
        return answer(new Request.Status(), DaemonStatus.class, Deadline.after(longestAnswer));
    }

    /** Stops the daemon and returns when its files are gone, or kept. */
    public Done stop(boolean keep, ProgressListener listener) {
        return exchange(new Request.Stop(keep), listener);
    }

    private Done await(Request.Wait request, ProgressListener listener) {
        Persistence persistence = new Persistence(request.timeout(), request.name(), listener);
        while (true) {
            Duration left = persistence.timeLeft();
            ControlConnection connection = persistence.connect();
            try (connection) {
                connection.call(new Request.Wait(request.name(), left, request.evenIfUnknown()));
                return connection.finish(listener, Deadline.after(left.plus(GRACE)));
            } catch (LarderException e) {
                persistence.requireLost(connection, e);
            }
        }
    }

    /**
     * Asks again if the daemon dies while the client waits for it, as another may take its store over; one report of progress names that.
     * A call that no daemon has answered yet fails at once, and so does one that the daemon has refused.
     */
    private final class Persistence {
        private final Duration timeout;
        private final Deadline deadline;
        private final String name;
        private final ProgressListener listener;
        private final Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
        private boolean wasConnected;
        private boolean hasReported;

        Persistence(Duration timeout, String name, ProgressListener listener) {
            this.name = name;
            this.listener = listener;
            this.timeout = Duration.ofNanos(Deadline.nanos(timeout));
            this.deadline = Deadline.after(timeout);
        }

        /** Returns the whole time as long as nobody has answered. */
        Duration timeLeft() {
            return wasConnected ? deadline.remaining() : timeout;
        }

        ControlConnection connect() {
            while (true) {
                try {
                    ControlConnection connection = ControlConnection.open(store, silence);
                    wasConnected = true;
                    return connection;
                } catch (LarderException e) {
                    if (!wasConnected
                            || e.code() != ErrorCode.NO_DAEMON
                            || timeLeft().isZero()) {
                        throw e;
                    }
                    pause();
                }
            }
        }

        void requireLost(ControlConnection connection, LarderException failure) {
            if (!connection.isLost()
                    || failure.code() != ErrorCode.NO_DAEMON
                    || timeLeft().isZero()) {
                throw failure;
            }
            pause();
        }

        private void pause() {
            if (!hasReported) {
                hasReported = true;
                String message = "the daemon is gone, waiting for another: store=" + store
                        + "; larder serve --detach starts one";
                listener.progress(Progress.of(Progress.Phase.WAITING, name, message));
            }
            if (!backoff.pause(deadline)) {
                throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting for a daemon")
                        .with("store", store)
                        .exception();
            }
        }
    }

    private Done exchange(Request request, ProgressListener listener) {
        try (ControlConnection connection = ControlConnection.open(store, silence)) {
            connection.call(request);
            return connection.finish(listener, Deadline.none());
        }
    }

    private <T extends Response> T answer(Request request, Class<T> kind, Deadline end) {
        try (ControlConnection connection = ControlConnection.open(store, silence)) {
            connection.call(request);
            return connection.answer(kind, ProgressListener.NONE, end);
        }
    }

    private <T extends Response, R> List<R> rows(Request request, Class<T> kind, Function<T, List<R>> rows) {
        return rows(request, Deadline.after(longestAnswer), kind, rows);
    }

    private <T extends Response, R> List<R> rows(
            Request request, Deadline end, Class<T> kind, Function<T, List<R>> rows) {
        try (ControlConnection connection = ControlConnection.open(store, silence)) {
            connection.call(request);
            return connection.rows(kind, rows, end);
        }
    }
}
