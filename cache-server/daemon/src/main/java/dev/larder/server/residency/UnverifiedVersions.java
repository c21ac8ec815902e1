package dev.larder.server.residency;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The versions that clients cannot open before their checksums have been compared. Thread-safe. */
public final class UnverifiedVersions {
    private final Store store;
    private final Residency residency;
    private final List<PublishedVersion> versions = new ArrayList<>();

    UnverifiedVersions(Store store, Residency residency) {
        this.store = store;
        this.residency = residency;
    }

    synchronized void addAll(List<PublishedVersion> adopted) {
        versions.addAll(adopted);
    }

    /** Returns all of them. */
    public synchronized List<PublishedVersion> all() {
        return List.copyOf(versions);
    }

    /** Returns the one of a dataset. */
    public Optional<PublishedVersion> find(String dataset) {
        return all().stream()
                .filter(version -> version.dataset().equals(dataset))
                .findFirst();
    }

    synchronized boolean remove(PublishedVersion version) {
        return versions.removeIf(version::isSameAs);
    }

    /** Makes a version visible after its checksums have matched, or retires it if a newer one is current. */
    public void reveal(PublishedVersion verified) {
        Optional<PublishedVersion> revealed = store.reveal(verified);
        synchronized (residency) {
            if (remove(verified)) {
                revealed.ifPresentOrElse(residency::makeCurrent, () -> residency.retire(verified));
            }
        }
        if (revealed.isEmpty()) {
            residency.removeReplaced();
        }
    }

    /** Gives a damaged version up: registers it if it has a source, otherwise sets it aside. */
    public void reject(PublishedVersion damaged) {
        if (find(damaged.dataset()).filter(damaged::isSameAs).isEmpty()) {
            return; // a newer one was published meanwhile
        }
        if (damaged.isSourced()) {
            residency.register(Registration.ofLost(damaged, store.isPinned(damaged)));
            synchronized (residency) {
                if (remove(damaged)) {
                    residency.retire(damaged);
                }
            }
            residency.removeReplaced();
        } else {
            store.setAside(damaged);
            residency.forget(damaged);
        }
    }

    /** Refuses a dataset that has only an unverified version. */
    void requireNone(String dataset) {
        if (residency.find(dataset).isEmpty() && find(dataset).isPresent()) {
            throw Failure.of(ErrorCode.REFUSED, "dataset is being verified after a restart")
                    .with("dataset", dataset)
                    .remedy("larder wait " + dataset + ", and try again");
        }
    }
}
