package dev.larder.server;

import dev.larder.error.LarderException;
import dev.larder.server.ingest.Loads;
import dev.larder.server.ingest.Recheck;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Registration;
import org.jspecify.annotations.Nullable;

/** Finishes in the background what taking a store over leaves to do: compares checksums, loads again what was pinned and lost. */
final class Recovery {
    private final Daemon daemon;
    private final Residency residency;
    private final Loads loads;

    Recovery(Daemon daemon, Residency residency, Loads loads) {
        this.daemon = daemon;
        this.residency = residency;
        this.loads = loads;
    }

    void start() {
        for (Recheck recheck : loads.recheck(residency.unverified())) {
            recheck.whenEnded((done, failure) -> afterRecheck(failure));
        }
        reloadPinned();
    }

    private void afterRecheck(@Nullable Throwable failure) {
        if (failure != null && !daemon.isStopping()) {
            daemon.report("what an earlier daemon left is not whole", failure);
            reloadPinned();
        }
        daemon.afterChange();
    }

    private void reloadPinned() {
        for (Registration lost : residency.registrations()) {
            if (lost.pinned() && loads.find(lost.dataset()).isEmpty()) {
                try {
                    daemon.startLoad(lost.request()).whenEnded((done, failure) -> noteReload(failure));
                } catch (LarderException e) {
                    noteReload(e);
                }
            }
        }
    }

    private void noteReload(@Nullable Throwable failure) {
        if (failure != null && !daemon.isStopping()) {
            daemon.report("a pinned dataset was lost and cannot be loaded again", failure);
        }
    }
}
