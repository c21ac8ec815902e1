package dev.larder.internal.protocol;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.sbe.HelloEncoder;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The numbers of the control plane that both sides keep to. */
public final class Protocol {
    /** Changes when an older peer would misunderstand a newer one; different majors refuse each other. */
    public static final int MAJOR = 1;

    /** Changes when something is added that an older peer can do without: the version of the schema. */
    public static final int MINOR = HelloEncoder.SCHEMA_VERSION;

    /** The longest request in bytes, without the length in front: a list of some 50,000 paths. */
    public static final int MAX_REQUEST_LENGTH = 4 * 1024 * 1024;

    /** The longest request in bytes of a client that has not said yet who it is. */
    public static final int MAX_GREETING_LENGTH = 64 * 1024;

    /** The longest response in bytes, without the length in front. */
    public static final int MAX_RESPONSE_LENGTH = 1024 * 1024;

    private Protocol() {}

    /** Says what to do where daemon and client are of different protocols: {@code larder stop} is refused then as everything is. */
    public static String useOneRelease(long daemonPid) {
        return "use the same Larder release as the daemon; or stop this daemon with larder stop --keep of its release, or with kill -9 "
                + daemonPid + ", and run larder serve, which takes its data over";
    }

    /** Returns the address of a socket file, or fails where the kernel cannot take a path that long. */
    public static UnixDomainSocketAddress address(Path socket) {
        int length = socket.toString().getBytes(StandardCharsets.UTF_8).length;
        if (length > StoreLayout.SOCKET_PATH_LIMIT) {
            throw Failure.of(ErrorCode.USAGE, "path of the control socket is too long")
                    .with("path", socket)
                    .with("bytes", length)
                    .with("limit", StoreLayout.SOCKET_PATH_LIMIT)
                    .remedy("choose a store with a shorter path");
        }
        return UnixDomainSocketAddress.of(socket);
    }
}
