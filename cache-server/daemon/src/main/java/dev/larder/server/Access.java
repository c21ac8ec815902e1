package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.StoreOwner;
import dev.larder.server.control.Peer;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Publisher;
import dev.larder.server.store.version.Registration;
import org.jspecify.annotations.Nullable;

/**
 * Decides who may change a dataset. The owner of the store may change any; a member of its group only datasets that the member published.
 */
final class Access {
    private final Residency residency;
    private final StoreOwner owner;

    Access(Residency residency, StoreOwner owner) {
        this.residency = residency;
        this.owner = owner;
    }

    /** Refuses to change a dataset that another user published or registered. Does nothing if the dataset is unknown. */
    void requireMayChange(Peer peer, String name, String request) {
        if (!peer.isOwner()) {
            String dataset =
                    name.indexOf('/') < 0 ? name : ArrayName.parse(name).dataset();
            Publisher publisher = publisher(dataset);
            if (publisher != null && publisher.uid() != peer.uid()) {
                throw Failure.of(ErrorCode.REFUSED, "the dataset belongs to another user")
                        .with("dataset", dataset)
                        .with("request", request)
                        .with("user", peer.user())
                        .with("uid", peer.uid())
                        .with("publisher", publisher.isMember() ? publisher.user() : owner.user())
                        .with("publisherUid", publisher.isMember() ? publisher.uid() : owner.uid())
                        .remedy("ask " + (publisher.isMember() ? publisher.user() + " or " : "") + owner.user()
                                + ", or use another name");
            }
        }
    }

    private @Nullable Publisher publisher(String dataset) {
        return residency
                .find(dataset)
                .map(PublishedVersion::provenance)
                .or(() -> residency.registration(dataset).map(Registration::provenance))
                .map(Provenance::publisher)
                .orElse(null);
    }

    /** Returns the publisher to record for a caller. */
    static Publisher publisher(Peer peer) {
        return peer.isOwner() ? Publisher.OWNER : Publisher.member(peer.uid(), peer.user());
    }
}
