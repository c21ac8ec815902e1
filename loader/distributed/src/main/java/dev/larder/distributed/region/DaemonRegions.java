package dev.larder.distributed.region;

import dev.larder.distributed.internal.memory.Interrupts;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.InterProcess;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.internal.time.Deadline;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** Regions that the daemon of a store makes. */
final class DaemonRegions implements RegionSource {
    private static final Duration HAND_OVER = Duration.ofSeconds(10);
    private static final Duration LISTENS_SOON = Duration.ofSeconds(1);
    private static final long PAUSE_NS = 5_000_000;

    private final StoreLayout store;
    private final ControlClient daemon;

    DaemonRegions(StoreLayout store) {
        this.store = store;
        this.daemon = ControlClient.at(store.root());
    }

    @Override
    public Path locks() {
        Path locks = store.regions().resolve(RegionDescriptor.LOCKS_FILE);
        if (!Files.exists(locks)) {
            throw Failure.of(ErrorCode.NO_DAEMON, "no daemon has prepared the store for regions")
                    .with("store", store.root())
                    .remedy(Remedy.START_DAEMON_OR_NAME_STORE);
        }
        return locks;
    }

    @Override
    public RegionRow create(RegionSpec spec, Duration timeLeft) {
        boolean isSealed = spec.strategy() == SharingStrategy.MEMFD;
        return daemon.patientWithin(timeLeft).createRegion(spec.name(), spec.kind(), spec.byteSize(), isSealed);
    }

    @Override
    public Optional<RegionRow> find(String name, Duration timeLeft) {
        return daemon.patientWithin(timeLeft).regions(name).stream().findAny();
    }

    @Override
    public List<RegionRow> list() {
        return daemon.regions("");
    }

    @Override
    public void remove(String name, long id) {
        daemon.removeRegion(name, id);
    }

    @Override
    public int open(RegionRow row) {
        return row.file().isPresent() ? openFile(row.file().get()) : receive(row.id());
    }

    private static int openFile(Path file) {
        try {
            return Posix.system().openForWriting(file);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return -1;
            }
            throw e;
        }
    }

    /** Connects. A daemon that has just started listens here a little later than elsewhere. */
    private int connect(InterProcess calls) {
        Deadline deadline = Deadline.after(LISTENS_SOON);
        while (true) {
            try {
                return calls.connect(store.regionSocket(), HAND_OVER);
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NO_DAEMON || deadline.isOver()) {
                    throw e;
                }
                Interrupts.requireNone("connect", store.regionSocket().toString());
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    private int receive(long id) {
        InterProcess calls = InterProcess.system();
        int connection = connect(calls);
        try {
            calls.send(connection, id, null);
            InterProcess.Received received = calls.receive(connection);
            if (received == null) {
                throw Failure.of(ErrorCode.NO_DAEMON, "the daemon did not hand the region over")
                        .with("socket", store.regionSocket())
                        .with("id", Long.toHexString(id))
                        .remedy("see larder errors, and check that this user may use the store");
            }
            if (received.number() == id && received.descriptor() < 0) {
                throw Failure.of(ErrorCode.NO_SPACE, "this process has no free file descriptor")
                        .with("id", Long.toHexString(id))
                        .remedy("raise ulimit -n, or close files");
            }
            return received.descriptor();
        } finally {
            Posix.system().close(connection);
        }
    }
}
