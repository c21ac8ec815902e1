package dev.larder.cluster;

import dev.larder.distributed.rendezvous.Endpoint;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Where the leader listens. A thread for each caller has it prove who it is, and puts what it says into the leader's queue. */
final class Door implements AutoCloseable {
    private static final int BACKLOG = 1024;

    /** How many may be at the door that have not yet proven that they belong to the run. */
    private static final int MOST_STRANGERS = 256;

    /** Of how many callers it is said that they were turned away. */
    private static final int MOST_TOLD = 100;

    /** What the leader hears: of a caller that said who it is, of a message, or of the end of a link. */
    record Event(
            Member member,
            @Nullable Message message,
            @Nullable String goneBecause) {}

    private final ServerSocket listener;
    private final NodeOptions options;
    private final BlockingQueue<Event> events;
    private final LineForwarder lines;
    private final NodeListener hearer;
    private final AtomicInteger turnedAway = new AtomicInteger();
    private final Semaphore strangers = new Semaphore(MOST_STRANGERS);
    private volatile boolean closed;

    private Door(
            ServerSocket listener,
            NodeOptions options,
            BlockingQueue<Event> events,
            LineForwarder lines,
            NodeListener hearer) {
        this.listener = listener;
        this.options = options;
        this.events = events;
        this.lines = lines;
        this.hearer = hearer;
    }

    /** Listens at the endpoint; null where something else does. */
    static @Nullable Door open(
            NodeOptions options, BlockingQueue<Event> events, LineForwarder lines, NodeListener hearer) {
        ServerSocket listener = listen(options.endpoint(), options.secret().isGiven());
        if (listener == null) {
            return null;
        }
        Door door = new Door(listener, options, events, lines, hearer);
        start("larder-door", door::accept);
        return door;
    }

    private static @Nullable ServerSocket listen(Endpoint endpoint, boolean hasSecret) {
        try {
            ServerSocket listener = new ServerSocket();
            try {
                listener.setReuseAddress(true);
                listener.bind(endpoint.listenAddress(hasSecret), BACKLOG);
                return listener;
            } catch (BindException e) {
                listener.close();
                if (String.valueOf(e.getMessage()).contains("in use")) {
                    return null;
                }
                throw e; // such as a port that only root may have
            }
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot listen at the rendezvous endpoint")
                    .with("endpoint", endpoint.text())
                    .with("reason", e)
                    .cause(e)
                    .remedy("name another --rdzv-endpoint");
        }
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!closed) {
            try {
                Socket socket =
                        listener.accept(); // one that is blocked may take a caller even after the listener was closed
                if (!closed && strangers.tryAcquire()) {
                    start("larder-node-link", () -> serve(socket));
                } else {
                    socket.close();
                }
            } catch (IOException closedOrNoDescriptor) {
                pause();
            }
        }
    }

    /** Without a descriptor left, accepting fails at once and for a while. */
    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(Socket socket) {
        @Nullable Member member = null;
        String gone;
        try {
            member = greet(socket);
            events.add(new Event(member, null, null));
            if (closed) {
                member.hangUp(); // its event has no listener left
            }
            listen(member);
            gone = "it hung up";
        } catch (SocketTimeoutException e) {
            gone = "silent for " + options.times().silence().toSeconds() + " s";
        } catch (NodeLink.StrangerException e) {
            gone = Failure.words(e);
            turnedAway(socket, gone);
        } catch (IOException e) {
            gone = "connection closed";
        }
        close(socket);
        if (member != null) {
            events.add(new Event(member, null, gone));
        }
    }

    private void turnedAway(Socket socket, String reason) {
        int count = turnedAway.incrementAndGet();
        if (count <= MOST_TOLD) {
            hearer.said("a caller was turned away: address="
                    + socket.getInetAddress().getHostAddress() + " reason=" + reason
                    + (count == MOST_TOLD ? "; further ones are not told of" : ""));
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            return; // gone either way
        }
    }

    private Member greet(Socket socket) throws IOException {
        try {
            NodeLink link =
                    NodeLink.toNode(socket, options.secret(), options.times().silence());
            if (link.receive() instanceof Message.Hello hello) {
                return new Member(link, hello);
            }
            throw new NodeLink.StrangerException("it does not say who it is");
        } finally {
            strangers.release();
        }
    }

    private void listen(Member member) throws IOException {
        while (true) {
            Message message = member.link().receive();
            member.heard();
            if (message instanceof Message.Lines some) {
                lines.offer(member.shortText(), some.rank(), some.outputLines());
            } else if (!(message instanceof Message.Ping)) {
                events.add(new Event(member, message, null));
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        try {
            listener.close();
        } catch (IOException e) {
            return; // nobody is let in any more either way
        }
    }
}
