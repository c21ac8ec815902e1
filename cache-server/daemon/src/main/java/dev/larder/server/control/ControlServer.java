package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.Protocol;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Listens at the control socket of a store. One thread does all the reading and writing and calls the
 * {@link RequestHandler}; it sleeps in the kernel until a client, an answer or a deadline wakes it.
 *
 * <p>Nothing that a client sends or leaves unsent harms the daemon or another client: lengths, times and the number of
 * connections are limited, and only the store's owner, root, and the group that the store is open to are listened to.
 */
public final class ControlServer implements AutoCloseable {
    private static final int BACKLOG = 1024;
    private static final long JOIN_MARGIN_MS = 1_500;

    private final ControlSettings settings;
    private final ControlLoop loop;
    private final Thread thread;
    private final ErrorLog errors;

    private ControlServer(ControlSettings settings, ControlLoop loop, ErrorLog errors) {
        this.settings = settings;
        this.loop = loop;
        this.errors = errors;
        this.thread = new Thread(loop, "larder-control");
        this.thread.setDaemon(true);
    }

    /**
     * Binds the socket and starts to serve. A socket file of an earlier daemon is removed: only the holder of the store's lock
     * may call this.
     */
    public static ControlServer start(
            ControlSettings settings, RequestHandler handler, Counters counters, ErrorLog errors) {
        ServerSocketChannel listener = null;
        Selector selector = null;
        try {
            PeerPolicy peers = PeerPolicy.of(settings.folder());
            listener = bind(settings.socket(), peers.owner().isShared());
            selector = Selector.open();
            SelectionKey accepting = listener.register(selector, SelectionKey.OP_ACCEPT);
            Dispatcher dispatcher = new Dispatcher(settings, peers, handler, counters, errors);
            ControlLoop loop = new ControlLoop(settings, accepting, peers, dispatcher, counters, errors);
            ControlServer server = new ControlServer(settings, loop, errors);
            server.thread.start();
            return server;
        } catch (IOException failure) {
            ControlLoop.closeQuietly(selector);
            ControlLoop.closeQuietly(listener);
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot listen at the control socket")
                    .with("socket", settings.socket())
                    .with("reason", failure)
                    .cause(failure)
                    .remedy("check the store's file system and permissions");
        }
    }

    /** Takes the socket file away, so that no client comes any more, while those who are connected are still answered. */
    public void stopAccepting() throws IOException {
        loop.unlinkSocket();
    }

    /**
     * Stops listening at once, lets answers that are ready leave, refuses what is still being worked on, and returns when the
     * socket file is gone: within some two seconds even if a handler hangs. May be called again, by any thread.
     */
    @Override
    public void close() {
        loop.stop();
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            thread.join(settings.closeTimeout().toMillis() + JOIN_MARGIN_MS);
            if (thread.isAlive()) {
                errors.record(Failure.of(ErrorCode.DEADLINE, "the control thread did not stop")
                        .with("at", thread.getStackTrace().length == 0 ? "?" : thread.getStackTrace()[0])
                        .exception());
            }
            stopAccepting();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (IOException failure) {
            errors.record(failure);
        }
    }

    private static ServerSocketChannel bind(Path socket, boolean isShared) throws IOException {
        Files.deleteIfExists(socket);
        ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            listener.bind(Protocol.address(socket), BACKLOG);
            Files.setPosixFilePermissions(
                    socket, PosixFilePermissions.fromString(isShared ? "rw-rw----" : "rw-------"));
            listener.configureBlocking(false);
            return listener;
        } catch (IOException | RuntimeException failure) {
            ControlLoop.closeQuietly(listener);
            throw failure;
        }
    }
}
