package dev.larder.server;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.InterProcess;
import dev.larder.internal.posix.PeerCredentials;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.RegionFiles;
import dev.larder.server.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Passes the memory of regions without a file to clients, one client at a time; see {@link dev.larder.internal.layout.RegionDescriptor}.
 * Only this user and root can connect. A client can delay the next one by at most a second. Owns a thread and its socket.
 */
final class RegionServer implements AutoCloseable {
    private static final Duration LONGEST_CALL = Duration.ofSeconds(1);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final int ROOT = 0;
    private static final int NOT_LISTENING = -1;

    private final InterProcess calls = InterProcess.system();
    private final Posix posix = Posix.system();
    private final Path socket;
    private final RegionFiles regions;
    private final BooleanSupplier isInPlace;
    private final Consumer<Throwable> onFailure;
    private final Thread thread = new Thread(this::serve, "larder-regions");
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Belongs to the thread once it has started. */
    private int listener = NOT_LISTENING;

    RegionServer(Store store, Consumer<Throwable> onFailure) {
        this.socket = store.layout().regionSocket();
        this.regions = store.regions();
        this.isInPlace = store::isInPlace;
        this.onFailure = onFailure;
        thread.setDaemon(true);
    }

    /**
     * Starts to serve: clients can connect when this returns. Replaces the socket of an earlier daemon, so only the owner of the store's
     * lock may call this.
     */
    void start() {
        try {
            listen();
        } catch (IOException | RuntimeException e) {
            Guarded.report(e, onFailure); // the thread tries again
        }
        thread.start();
    }

    private void listen() throws IOException {
        Files.deleteIfExists(socket);
        listener = calls.listen(socket);
    }

    /** Serves, and listens again if another program removed the socket. */
    private void serve() {
        while (isOpen()) {
            try {
                if (listener == NOT_LISTENING) {
                    if (!isInPlace.getAsBoolean()) { // the present contents, if any, belong to another daemon
                        pause();
                        continue;
                    }
                    listen();
                }
                try {
                    while (isOpen() && Files.exists(socket, LinkOption.NOFOLLOW_LINKS)) {
                        serveNext();
                    }
                } finally {
                    posix.close(listener);
                    listener = NOT_LISTENING;
                }
            } catch (IOException | RuntimeException | Error e) {
                fail(e);
            }
        }
        if (listener != NOT_LISTENING) { // closed before it served a client
            posix.close(listener);
        }
    }

    private void fail(Throwable failure) {
        if (isOpen()) {
            Guarded.report(failure, onFailure);
            pause(); // it may fail again immediately
        }
    }

    private boolean isOpen() {
        return closed.getCount() > 0;
    }

    /** Waits a while, or until this is closed. No thread interrupts this one. */
    private void pause() {
        try {
            var unused = closed.await(LONGEST_CALL.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void serveNext() {
        int connection = calls.accept(listener, POLL);
        if (connection < 0) {
            return;
        }
        try {
            calls.limitWaits(connection, LONGEST_CALL);
            PeerCredentials peer = posix.peer(connection);
            InterProcess.Received request =
                    peer.uid() == ROOT || peer.uid() == posix.userId() ? calls.receive(connection) : null;
            if (request == null) {
                return;
            }
            if (request.descriptor() >= 0) {
                posix.close(request.descriptor());
            }
            long id = request.number();
            if (!regions.handOver(id, memory -> calls.send(connection, id, new int[] {memory}))) {
                calls.send(connection, 0, null);
            }
        } catch (LarderException clientLeft) {
            return; // it connects again if it still needs the region
        } finally {
            posix.close(connection);
        }
    }

    /** Ends within a second and a half, and removes the socket; called while the store's lock is still held. Idempotent. */
    @Override
    public void close() {
        closed.countDown();
        try {
            thread.join(LONGEST_CALL.plusMillis(500).toMillis());
            if (!thread.isAlive() && isInPlace.getAsBoolean()) {
                Files.deleteIfExists(socket);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            Guarded.report(e, onFailure);
        }
    }
}
