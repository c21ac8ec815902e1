package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreOwner;
import dev.larder.internal.posix.PeerCredentials;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.RawMemory;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import jdk.net.ExtendedSocketOptions;

/**
 * Decides who may connect: the owner of the store's folder, root, and, if the folder is shared, members of its group. Uses the user and
 * groups that the kernel recorded at the time of connecting, supplementary groups included.
 */
record PeerPolicy(StoreOwner owner, UserNames names) {
    private static final int ROOT = 0;
    private static final long NAME_PATIENCE_MS = 200;
    private static final long DESCRIPTOR_OFFSET = descriptorOffset();

    PeerPolicy(StoreOwner owner) {
        this(owner, new UserNames(NAME_PATIENCE_MS));
    }

    /** Returns the policy for a store's folder. */
    static PeerPolicy of(Path store) {
        return new PeerPolicy(StoreOwner.of(store));
    }

    /** Returns the client of a connection, or refuses it. */
    Peer admit(SocketChannel channel) throws IOException {
        PeerCredentials credentials = Posix.system().peer(descriptor(channel));
        String user = credentials.uid() == owner.uid()
                ? owner.user()
                : names.of(
                        credentials.uid(),
                        () -> channel.getOption(ExtendedSocketOptions.SO_PEERCRED)
                                .user()
                                .getName());
        return admit(credentials, user);
    }

    Peer admit(PeerCredentials credentials, String user) {
        int uid = credentials.uid();
        boolean isOwner = uid == ROOT || uid == owner.uid();
        if (!isOwner && !(owner.isShared() && credentials.groupIds().contains(owner.gid()))) {
            throw Failure.of(ErrorCode.REFUSED, "this store belongs to another user")
                    .with("user", user)
                    .with("uid", uid)
                    .with("owner", owner.user())
                    .with("group", owner.isShared() ? owner.group() : "none")
                    .remedy("use a store of your own: larder serve --store DIR");
        }
        return new Peer(credentials.pid(), uid, user, isOwner);
    }

    /** Refuses a call that only the owner may make. */
    void requireOwner(Peer peer, String request) {
        if (!peer.isOwner()) {
            throw Failure.of(ErrorCode.REFUSED, "only the owner of the store may do that")
                    .with("request", request)
                    .with("user", peer.user())
                    .with("uid", peer.uid())
                    .with("owner", owner.user())
                    .with("ownerUid", owner.uid())
                    .remedy("ask " + owner.user() + ", or use a store of your own: larder serve --store DIR");
        }
    }

    /** Returns the descriptor of a channel; valid while the channel is open. */
    static int descriptor(SocketChannel channel) {
        return RawMemory.getInt(channel, DESCRIPTOR_OFFSET);
    }

    private static long descriptorOffset() {
        try {
            return RawMemory.fieldOffset("sun.nio.ch.SocketChannelImpl", "fdVal");
        } catch (ReflectiveOperationException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "this JVM cannot identify clients")
                    .with("reason", e)
                    .with("java", Runtime.version())
                    .cause(e)
                    .remedy("use a JDK from 17 to 25");
        }
    }
}
