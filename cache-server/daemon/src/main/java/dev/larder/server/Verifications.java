package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Request;
import dev.larder.server.control.Peer;
import dev.larder.server.control.Reply;
import dev.larder.server.ingest.SourceComparison;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.space.ScratchMemory;
import dev.larder.server.store.version.PublishedVersion;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Answers requests to verify datasets: one at a time for each member of the group, or one member could hold up all others. */
final class Verifications {
    private final Store store;
    private final Residency residency;

    /** Members of the group for whom one waits or runs. */
    private final Set<Integer> members = ConcurrentHashMap.newKeySet();

    Verifications(Store store, Residency residency) {
        this.store = store;
        this.residency = residency;
    }

    /** Refuses a member who has one already; else the caller lets {@link #run} follow. */
    void enter(Peer peer) {
        if (!peer.isOwner() && !members.add(peer.uid())) {
            throw Failure.of(ErrorCode.REFUSED, "a verification that this user requested is still running")
                    .with("user", peer.user())
                    .with("uid", peer.uid())
                    .remedy("wait for it to end");
        }
    }

    /** Reads everything that is to be verified, which takes long, and answers. */
    void run(Request.Verify request, Reply reply) {
        try {
            reply.done(verify(request, reply));
        } finally {
            members.remove(reply.peer().uid());
        }
    }

    private Done verify(Request.Verify request, Reply reply) {
        String name = request.name();
        Optional<PublishedVersion> version = residency.find(Names.datasetIn(name));
        if (!name.isEmpty() && version.isEmpty()) {
            throw residency.notResident(name);
        }
        List<PublishedVersion> versions = name.isEmpty() ? residency.current() : List.of(version.orElseThrow());
        String array = Objects.requireNonNullElse(Names.arrayIn(name), "");
        Done done = new Verification(store, versions, array, reply::progress, reply::isConnected).run();
        if (done.files() == 0 && !array.isEmpty()) {
            throw residency.notResident(name);
        }
        return request.againstSources() ? compareWithSources(versions, array, reply) : done;
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
