package dev.larder.distributed.internal.meeting;

import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Accepts connections of guests. A thread for each of them does the handshake, reads the first message, and then all others. A caller that
 * takes long, or one of too many, is dropped before it keeps out others.
 */
public final class Acceptor<M, G> implements AutoCloseable {
    private static final int BACKLOG = 1024;

    /** The most callers that have not proved yet that they belong to the run. */
    private static final int MOST_STRANGERS = 256;

    private static final long PAUSE_MS = 20;

    private final ServerSocket listener;
    private final Link.Protocol<M> protocol;
    private final RunSecret secret;
    private final Duration silence;
    private final Deque<Socket> strangers = new ArrayDeque<>();
    private volatile boolean closed;

    /** Handles guests; each method is called by the thread of the guest. */
    public interface Guests<M, G> {
        /** Returns the guest that has sent this first message. */
        G greet(Link<M> link, M hello) throws IOException;

        /** Handles another message. */
        void heard(G guest, M message) throws IOException;

        /** Handles the end of a connection. */
        void gone(G guest, IOException reason);

        /** Handles the end of a connection that has not become a guest. */
        void turnedAway(InetAddress address, IOException reason);
    }

    /** Owns a listener. {@code silence} limits the wait for the next message of a guest. */
    public Acceptor(ServerSocket listener, Link.Protocol<M> protocol, RunSecret secret, Duration silence) {
        this.listener = listener;
        this.protocol = protocol;
        this.secret = secret;
        this.silence = silence;
    }

    /** Listens at an endpoint, at a free port if its port is 0. */
    public static ServerSocket listen(Endpoint endpoint, RunSecret secret) throws IOException {
        ServerSocket listener = new ServerSocket();
        try {
            listener.setReuseAddress(true);
            listener.bind(endpoint.listenAddress(secret.isGiven()), BACKLOG);
            return listener;
        } catch (IOException | RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    /** Begins to accept connections. */
    public void start(Guests<M, G> guests) {
        start("larder-acceptor", () -> accept(guests));
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept(Guests<M, G> guests) {
        while (!closed) {
            try {
                Socket socket = listener.accept(); // which may still return one after the listener was closed
                if (closed) {
                    close(socket);
                    return;
                }
                if (admit(socket) > MOST_STRANGERS) {
                    dropOldest();
                }
                startGuest(socket, guests);
            } catch (IOException closedOrNoDescriptor) {
                dropOldest();
                pause();
            }
        }
    }

    private void startGuest(Socket socket, Guests<M, G> guests) {
        try {
            start("larder-guest", () -> serve(socket, guests));
        } catch (OutOfMemoryError noThread) { // the caller may come again
            var unused = forget(socket);
            close(socket);
            pause();
        }
    }

    private int admit(Socket socket) {
        synchronized (strangers) {
            strangers.add(socket);
            return strangers.size();
        }
    }

    private void dropOldest() {
        synchronized (strangers) {
            close(strangers.poll());
        }
    }

    /** Waits before the next try: without a free descriptor, accepting fails immediately, again and again. */
    private static void pause() {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(Socket socket, Guests<M, G> guests) {
        @Nullable G guest = null;
        try {
            Link<M> link = Link.toGuest(socket, protocol, secret);
            M hello = link.receive();
            link.allow(silence, Deadline.none());
            if (!forget(socket) || closed) { // after its connection is dropped, a caller comes again
                return;
            }
            guest = guests.greet(link, hello);
            while (true) {
                guests.heard(guest, link.receive());
            }
        } catch (IOException e) {
            close(socket);
            if (guest != null) {
                guests.gone(guest, e);
            } else {
                guests.turnedAway(socket.getInetAddress(), e);
            }
        } finally {
            var unused = forget(socket);
            close(socket);
        }
    }

    /** Removes a connection from those of strangers. Returns false if it is not among them: it was dropped for a newer one, or became a guest's. */
    private boolean forget(Socket socket) {
        synchronized (strangers) {
            return strangers.remove(socket);
        }
    }

    private static void close(@Nullable Socket socket) {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException e) {
            return; // it is gone either way
        }
    }

    /** Stops to listen. Guests stay connected. */
    @Override
    public void close() {
        closed = true;
        try {
            listener.close();
        } catch (IOException e) {
            return; // no guest is accepted any more either way
        }
    }
}
