package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import jdk.net.ExtendedSocketOptions;

/** Says whose connections are listened to: names as the kernel has them of the connecting process. */
record PeerPolicy(Set<String> users) {

    /** Listens to the user whom a file belongs to, and to root. */
    static PeerPolicy ownerOf(Path file) throws IOException {
        String owner = Files.getOwner(file).getName();
        return new PeerPolicy(owner.equals("root") ? Set.of(owner) : Set.of(owner, "root"));
    }

    /** Refuses a connection of anybody else. */
    void check(SocketChannel channel) throws IOException {
        String user =
                channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
        if (!users.contains(user)) {
            throw Failure.of(ErrorCode.REFUSED, "this store belongs to another user")
                    .with("user", user)
                    .with("owner", users)
                    .remedy("use a store of your own: larder serve --store DIR");
        }
    }
}
