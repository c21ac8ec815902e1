package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.Protocol;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.server.store.space.Space;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Listens at the control socket of a store. One thread reads and writes for all clients and calls the {@link RequestHandler}. It sleeps in
 * the kernel until a client, an answer or a deadline wakes it.
 *
 * <p>A client cannot harm the daemon or other clients by the messages that it sends or omits: lengths, times and the number of connections
 * are limited. Only the store's owner, root, and members of the store's group may connect.
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
     * Binds the socket and starts to serve. Replaces the socket of an earlier daemon, so only the owner of the store's lock may call this.
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
            throw Space.failed("cannot listen at the control socket", settings.socket(), failure);
        }
    }

    /** Removes the socket file, so that no further client connects. Connected clients are still answered. */
    public void stopAccepting() throws IOException {
        loop.unlinkSocket();
    }

    /**
     * Stops listening, sends the answers that are ready, and refuses unfinished calls. Returns when the socket file is gone: within about
     * two seconds even if a handler hangs. Idempotent, on any thread.
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
