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
 * Calls the daemon of a store. Each call has its own connection, so the client needs no closing and calls from several threads
 * are independent. Interrupting the thread cancels the call in the daemon.
 *
 * <p>If no daemon responds, calls fail with {@link dev.larder.error.ErrorCode#NO_DAEMON}. If the daemon refuses a call, the exception
 * has the daemon's code and message. If the daemon becomes silent, calls fail with {@link dev.larder.error.ErrorCode#DEADLINE}.
 */
public final class ControlClient {
    private static final Duration SILENCE = Duration.ofSeconds(10);

    /** Additional time after a timeout for the daemon to report it. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    /** The daemon answers such a request in a moment, unless it hangs or has a long queue. */
    private static final Duration LONGEST_ANSWER = Duration.ofMinutes(1);

    private final Path store;
    private final Duration silence;
    private final Duration longestAnswer;

    private ControlClient(Path store, Duration silence, Duration longestAnswer) {
        this.store = store;
        this.silence = silence;
        this.longestAnswer = longestAnswer;
    }

    /** Returns a client for the daemon of a store. Does not connect. */
    public static ControlClient at(Path store) {
        return new ControlClient(store, SILENCE, LONGEST_ANSWER);
    }

    /** Returns a client that fails after this long without a message from the daemon, instead of ten seconds. */
    public ControlClient patientFor(Duration longestSilence) {
        return new ControlClient(store, longestSilence, longestAnswer);
    }

    /** Returns a client that waits this long for rows and totals, even with heartbeats, instead of a minute. */
    public ControlClient answeredWithin(Duration limit) {
        return new ControlClient(store, silence, limit);
    }

    /** Returns a client with this one's limits, but at most the time left and one second. */
    public ControlClient patientWithin(Duration timeLeft) {
        return timeLeft.compareTo(silence.minus(GRACE)) < 0 ? patientFor(timeLeft.plus(GRACE)) : this;
    }

    /** Returns the identity of the daemon. */
    public ServiceInfo info() {
        return answer(new Request.GetInfo(), ServiceInfo.class, Deadline.after(silence));
    }

    /** Loads sources and returns when all of them are resident. */
    public Done load(LoadRequest request, ProgressListener listener) {
        return exchange(request, listener);
    }

    /** Waits until a dataset or an array is resident. Fails with NOT_FOUND and similar names if it is unknown. */
    public Done await(String name, Duration timeout, ProgressListener listener) {
        return await(new Request.Wait(name, timeout, false), listener);
    }

    /** Waits until a dataset or an array is resident, even if no load of it has begun. */
    public Done awaitEvenIfUnknown(String name, Duration timeout, ProgressListener listener) {
        return await(new Request.Wait(name, timeout, true), listener);
    }

    /**
     * Waits for the turn to build a dataset.
     *
     * @return empty if the dataset is resident and the request does not ask for a new version
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

    /** Lists all arrays. A version with more than {@code mostArrays} is one row, {@link ArrayRow#isWholeVersion}, unless it has columns. */
    public List<ArrayRow> list(int mostArrays) {
        return rows(new Request.ListArrays("", false, mostArrays), ArrayRows.class, ArrayRows::arrays);
    }

    /** Describes one array, or all arrays of one dataset; never empty. */
    public List<ArrayRow> info(String name) {
        return rows(new Request.Info(name), ArrayRows.class, ArrayRows::arrays);
    }

    /** Removes the newest version of a dataset. If it has a source, the next request loads it again. */
    public Done evict(String name) {
        return exchange(new Request.Evict(name, false), ProgressListener.NONE);
    }

    /** Removes the newest version of a dataset, and forgets its source. */
    public Done forget(String name) {
        return exchange(new Request.Evict(name, true), ProgressListener.NONE);
    }

    /** Records the whole dataset that a resident shard belongs to. */
    public Done noteWhole(String name, String digest, String of) {
        return exchange(new Request.NoteWhole(name, digest, of), ProgressListener.NONE);
    }

    /** Keeps a dataset resident until it is unpinned. */
    public Done pin(String name) {
        return exchange(new Request.Pin(name, true), ProgressListener.NONE);
    }

    /** Lets the daemon evict a dataset again when it needs space. */
    public Done unpin(String name) {
        return exchange(new Request.Pin(name, false), ProgressListener.NONE);
    }

    /** Returns the progress of each load and build, named by its datasets. */
    public List<Progress> loads() {
        return rows(new Request.Loads(), LoadRows.class, LoadRows::loads);
    }

    /** Returns the errors of the daemon, one for each kind, the latest last. */
    public List<ErrorRow> errors() {
        return rows(new Request.Errors(), ErrorRows.class, ErrorRows::errors);
    }

    /** Computes checksums again and compares them. The empty name means everything. */
    public Done verify(String name, ProgressListener listener) {
        return exchange(new Request.Verify(name, false), listener);
    }

    /**
     * Computes checksums again and compares them with the sources as well. Fails with CHECKSUM and the differences, or with
     * BAD_INPUT and the missing sources.
     */
    public Done verifyAgainstSources(String name, ProgressListener listener) {
        return exchange(new Request.Verify(name, true), listener);
    }

    /** Loads a dataset again from the same sources with the same options, even if they are unchanged. */
    public Done reload(String name, ProgressListener listener) {
        return exchange(new Request.Reload(name), listener);
    }

    /** Creates a region of zeros, unless one with this name exists. Returns its description. */
    public RegionRow createRegion(String name, String kind, long bytes) {
        List<RegionRow> created = rows(
                new RegionRequest.Create(name, kind, bytes), Deadline.none(), RegionRows.class, RegionRows::regions);
        if (created.size() != 1) {
            throw Failure.of(ErrorCode.UNEXPECTED, "the daemon's answer does not match the request")
                    .with("regions", created.size())
                    .with("store", store)
                    .remedy(Protocol.useOneRelease());
        }
        return created.get(0);
    }

    /** Returns the region with this name, if there is one. The empty name means all. */
    public List<RegionRow> regions(String name) {
        return rows(new RegionRequest.ListAll(name), RegionRows.class, RegionRows::regions);
    }

    /** Removes a region's name if it has this id; 0 means any id. Processes that have it open keep it. */
    public Done removeRegion(String name, long id) {
        return exchange(new RegionRequest.Remove(name, id), ProgressListener.NONE);
    }

    /** Returns totals of the daemon and its store. */
    public DaemonStatus status() {
        return answer(new Request.Status(), DaemonStatus.class, Deadline.after(longestAnswer));
    }

    /** Stops the daemon, and returns when its files are removed, or kept. */
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
     * Repeats a call if the daemon dies while the client waits, because another daemon may take its store over. One progress
     * report announces this. A call fails immediately if it has not reached a daemon before, or if the daemon refused it.
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

        /** Returns the time left, or the whole timeout if no daemon has responded yet. */
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
