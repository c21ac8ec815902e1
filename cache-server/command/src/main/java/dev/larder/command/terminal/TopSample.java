package dev.larder.command.terminal;

import dev.larder.command.output.ClientRow;
import dev.larder.command.output.FeedRow;
import dev.larder.command.output.ProcessFacts;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.CountersDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.loaders.LoaderRow;
import dev.larder.server.loaders.LoaderWatch;
import dev.larder.server.metrics.Counter;
import dev.larder.server.store.lock.LeaseTable;
import dev.larder.server.store.lock.LeaseTable.HeldVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * One sample of a store and its daemon. Needs no call if the files of the store suffice, so a daemon that hangs is shown like any
 * other.
 *
 * @param nanos the time of the sample, by a monotonic clock
 * @param leasedBytes the bytes of leased versions; the daemon's count if it sees more processes
 * @param watch samples the loaders
 * @param process the daemon's process, if it is visible
 */
public record TopSample(
        Path store,
        Instant time,
        long nanos,
        CountersDescriptor.Snapshot counters,
        Life life,
        @Nullable ProcessFacts process,
        long leasedBytes,
        List<ClientRow> clients,
        List<FeedRow> feeds,
        List<LoaderRow> loaders,
        LoaderWatch watch,
        TopAnswers answers) {
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** The state of the daemon. */
    enum Life {
        RUNNING,
        /** A signal or a debugger stopped it. */
        STOPPED,
        /** It runs, but in another pid namespace. */
        ELSEWHERE,
        GONE
    }

    /** Takes a sample. Fails with NO_DAEMON if there is no store. */
    public static TopSample take(Path store) {
        return take(store, new LoaderWatch(new StoreLayout(store)), TopAnswers.none());
    }

    private static TopSample take(Path store, LoaderWatch watch, TopAnswers before) {
        StoreLayout layout = new StoreLayout(store);
        LeaseTable leases = LeaseTable.of(layout);
        List<HeldVersion> held = leases.held();
        CountersDescriptor.Snapshot counters = CountersDescriptor.read(layout.counters());
        OptionalLong daemon = leases.daemonPid();
        ProcessFacts process =
                daemon.isPresent() ? ProcessFacts.of(daemon.getAsLong()).orElse(null) : null;
        Life life = life(store, process);
        long seenBytes = held.stream().mapToLong(HeldVersion::storedBytes).sum();
        List<FeedRow> feeds = FeedRow.of(layout, held);
        long countedBytes = counters.counters().getOrDefault(Counter.LEASED_BYTES.label(), 0L);
        return new TopSample(
                store,
                Instant.now(),
                System.nanoTime(),
                counters,
                life,
                process,
                life == Life.ELSEWHERE ? Math.max(seenBytes, countedBytes) : seenBytes,
                ClientRow.of(held, daemon, feeds),
                feeds,
                watch.look(),
                watch,
                life == Life.RUNNING
                        ? before.next(store, counters.counters().getOrDefault(Counter.LOADING.label(), 0L) > 0)
                        : TopAnswers.none());
    }

    /** Takes the next sample. If the store is gone, so is the daemon; all other values stay as before. */
    public static TopSample takeAfter(TopSample before) {
        try {
            return take(before.store, before.watch, before.answers);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_DAEMON) {
                throw e;
            }
            return new TopSample(
                    before.store,
                    Instant.now(),
                    System.nanoTime(),
                    before.counters,
                    Life.GONE,
                    null,
                    0,
                    List.of(),
                    List.of(),
                    List.of(),
                    before.watch,
                    TopAnswers.none());
        }
    }

    private static Life life(Path store, @Nullable ProcessFacts process) {
        if (process != null) {
            return process.isStopped() ? Life.STOPPED : Life.RUNNING;
        }
        try {
            ControlClient.at(store).patientFor(PATIENCE).info();
            return Life.ELSEWHERE;
        } catch (LarderException e) {
            return e.code() == ErrorCode.DEADLINE ? Life.ELSEWHERE : Life.GONE;
        }
    }

    /** Returns a counter; 0 if the daemon's release does not have it. */
    long count(Counter counter) {
        return counters.counters().getOrDefault(counter.label(), 0L);
    }

    /** Returns the growth of a counter per second since an earlier sample of the same daemon. */
    double perSecond(Counter counter, @Nullable TopSample before) {
        return before == null || !isOfSameDaemonAs(before)
                ? 0
                : (count(counter) - before.count(counter)) / secondsSince(before);
    }

    /** Returns the daemon's use of one processor since an earlier sample, in percent. */
    double cpuPercent(@Nullable TopSample before) {
        if (process == null || before == null || before.process == null || !isOfSameDaemonAs(before)) {
            return 0;
        }
        return (process.cpuTicks() - before.process.cpuTicks()) / secondsSince(before);
    }

    /** Returns how long the daemon has run. */
    Duration uptime() {
        return Duration.between(Instant.ofEpochMilli(counters.startEpochMs()), time);
    }

    private boolean isOfSameDaemonAs(TopSample before) {
        return counters.pid() == before.counters.pid() && counters.startEpochMs() == before.counters.startEpochMs();
    }

    private double secondsSince(TopSample before) {
        return Math.max(1, nanos - before.nanos) / 1e9;
    }
}
