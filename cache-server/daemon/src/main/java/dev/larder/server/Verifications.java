package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Request;
import dev.larder.server.control.Reply;
import dev.larder.server.ingest.SourceComparison;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.space.ScratchMemory;
import dev.larder.server.store.version.PublishedVersion;
import java.util.List;
import java.util.Objects;

/** Answers requests to verify datasets. */
final class Verifications {
    private final Store store;
    private final Residency residency;

    Verifications(Store store, Residency residency) {
        this.store = store;
        this.residency = residency;
    }

    /** Returns whether a request reads files outside the store, which may hang. */
    boolean looksAtSources(Request.Verify request) {
        return request.againstSources() || versions(request.name()).stream().anyMatch(PublishedVersion::isInPlace);
    }

    /** Verifies the requested data, which takes long. Ends early if the client leaves. */
    Done run(Request.Verify request, Reply reply) {
        String name = request.name();
        List<PublishedVersion> versions = versions(name);
        if (!name.isEmpty() && versions.isEmpty()) {
            throw residency.notResident(name);
        }
        String array = Objects.requireNonNullElse(Names.arrayIn(name), "");
        Done done = new Verification(store, versions, array, reply::progress, reply::isConnected).run();
        if (done.files() == 0 && !array.isEmpty()) {
            throw residency.notResident(name);
        }
        return request.againstSources() ? compareWithSources(versions, array, reply) : done;
    }

    private List<PublishedVersion> versions(String name) {
        return name.isEmpty()
                ? residency.current()
                : residency.find(Names.datasetIn(name)).stream().toList();
    }

    private Done compareWithSources(List<PublishedVersion> versions, String array, Reply reply) {
        if (versions.size() == 1 && versions.get(0).origins().isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "dataset was computed, so it has no source")
                    .with("dataset", versions.get(0).dataset())
                    .remedy("verify it without --source");
        }
        int workers = Runtime.getRuntime().availableProcessors();
        try (Reservation reservation = residency.reserveWithoutEvicting();
                ScratchMemory scratch = store.newScratch(reservation)) {
            return new SourceComparison(array, workers, reply::progress, reply::isConnected, scratch).run(versions);
        }
    }
}
