package dev.larder.server;

import dev.larder.error.LarderException;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.Loads;
import dev.larder.server.ingest.Recheck;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Registration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finishes in the background what taking a store over leaves to do: compares checksums, loads again what was pinned and lost.
 * From its construction on, clients wait for what has to be compared.
 */
final class Recovery {
    private final Daemon daemon;
    private final Residency residency;
    private final Loads loads;
    private final List<Recheck> rechecks;

    Recovery(Daemon daemon, Residency residency, Loads loads) {
        this.daemon = daemon;
        this.residency = residency;
        this.loads = loads;
        this.rechecks = loads.recheck(residency.heldBack().all());
    }

    void start() {
        rechecks.forEach(this::follow);
        loads.start(rechecks);
        reloadPinned();
    }

    /** Compares again what could not be compared before for a reason that may have passed. */
    Optional<Ingest> recheckAgain(String dataset) {
        loads.recheck(residency.heldBack().find(dataset).stream().toList()).forEach(this::follow);
        return loads.find(dataset);
    }

    private void follow(Recheck recheck) {
        recheck.whenEnded((done, failure) -> afterRecheck(failure));
    }

    private void afterRecheck(@Nullable Throwable failure) {
        if (failure != null && !daemon.isStopping()) {
            daemon.report("what an earlier daemon left is not whole, or cannot be verified", failure);
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
