package dev.larder.distributed.region;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.RegionRow;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Regions that the daemon of a store makes. */
final class DaemonRegions implements RegionSource {
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
        return daemon.patientWithin(timeLeft).createRegion(spec.name(), spec.kind(), spec.byteSize());
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
        try {
            return Posix.system().openForWriting(row.file());
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return -1;
            }
            throw e;
        }
    }
}
