package dev.larder.command;

import dev.larder.command.output.Outcome;
import dev.larder.command.output.Units;
import dev.larder.command.terminal.ProgressDisplay;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.time.Deadline;
import dev.larder.server.store.lock.LeaseTable;
import dev.larder.server.store.lock.LeaseTable.HeldVersion;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Stops the daemon. */
@Command(
        name = "stop",
        description = {
            "Stop the daemon and remove what it owns.",
            "Refused while other processes hold datasets of the store, unless --force or --keep is given."
        })
final class Stop implements Callable<Integer> {
    private static final long LOOK_NANOS = 100_000_000;

    @ParentCommand
    LarderCommand larder;

    @Option(names = "--keep", description = "Keep the store for the next start. Never refused: readers continue.")
    boolean keep;

    @Option(
            names = "--force",
            description =
                    "Stop even while datasets are held: their readers keep what they have open, and can open nothing more.")
    boolean force;

    @Option(
            names = "--wait",
            paramLabel = "D",
            converter = Units.DurationConverter.class,
            description = "Wait this long for processes that hold datasets to end.")
    @Nullable
    Duration wait;

    @Override
    public Integer call() {
        List<HeldVersion> inUse = awaitUnused();
        if (!inUse.isEmpty() && !keep && !force) {
            throw inUse(inUse);
        }
        Done done;
        try (ProgressDisplay display = ProgressDisplay.on(larder.err())) {
            done = larder.client().stop(keep, display);
        }
        larder.out().println(keep ? "Stopped; the store is kept." : "Stopped and cleaned up: " + Outcome.freed(done));
        return 0;
    }

    /** Waits until no dataset is held, or for the time of {@code --wait}; returns the versions that are still held. */
    private List<HeldVersion> awaitUnused() {
        if (wait == null && (keep || force)) {
            return List.of();
        }
        LeaseTable leases = LeaseTable.of(new StoreLayout(larder.store()));
        Deadline deadline = Deadline.after(wait == null ? Duration.ZERO : wait);
        List<HeldVersion> inUse = leases.inUse();
        while (!inUse.isEmpty() && !deadline.isOver()) {
            LockSupport.parkNanos(LOOK_NANOS);
            inUse = leases.inUse();
        }
        return inUse;
    }

    private LarderException inUse(List<HeldVersion> held) {
        Object unused = larder.client().status(); // fails first if the daemon is dead or hangs
        List<Long> pids = held.stream()
                .flatMap(version -> version.pids().stream())
                .distinct()
                .sorted()
                .toList();
        List<String> datasets =
                held.stream().map(HeldVersion::dataset).distinct().toList();
        return Failure.of(
                        wait == null ? ErrorCode.REFUSED : ErrorCode.DEADLINE,
                        wait == null ? "datasets of the store are in use" : "datasets of the store are still in use")
                .with("store", larder.store())
                .with("datasets", datasets)
                .with("pids", pids.isEmpty() ? "unknown" : pids)
                .remedy("larder stop --wait 10m waits for them to end; larder stop --keep keeps the store; larder"
                        + " stop --force stops anyway");
    }
}
