package dev.larder.server.http;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves HTTP on the loopback interface: one request for each connection, and only its head is read. One thread reads and writes for all
 * clients and waits for none of them, so a slow client delays no other. If all places are taken, the oldest connection without a complete
 * request loses its place.
 */
final class HttpListener implements AutoCloseable {
    /** More would leave too few file descriptors to the rest of the daemon. */
    private static final int MOST_CONNECTIONS = 256;

    private static final int MOST_ACCEPTED_AT_ONCE = 64;
    private static final int BACKLOG = 1_024;
    private static final int WORKERS = 2;
    private static final int MOST_QUEUED = 64;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long ACCEPT_PAUSE_MS = 100;
    private static final Logger LOG = LoggerFactory.getLogger(HttpListener.class);

    private final ServerSocketChannel server;
    private final Selector selector;
    private final Handler handler;
    private final InetSocketAddress address;
    private final ThreadPoolExecutor workers;
    private final Thread thread = new Thread(this::run, "larder-http");

    /** In the order of their arrival. */
    private final Set<HttpConnection> connections = new LinkedHashSet<>();

    private final Queue<Answered> answered = new ConcurrentLinkedQueue<>();
    private volatile boolean isClosed;

    /** Computes answers. */
    interface Handler {
        /** Refuses a request on the thread that serves all clients; returns null if it must be answered. */
        @Nullable
        HttpReply refuse(HttpCall call);

        /** Answers, which may take a second or two, on a worker. */
        HttpReply answer(HttpCall call);
    }

    /** The answer for a client; null if computing it failed. */
    private record Answered(
            HttpConnection connection, @Nullable ByteBuffer answer) {}

    private HttpListener(ServerSocketChannel server, Selector selector, Function<InetSocketAddress, Handler> handler)
            throws IOException {
        this.server = server;
        this.selector = selector;
        this.address = (InetSocketAddress) server.getLocalAddress();
        this.handler = handler.apply(address);
        AtomicInteger number = new AtomicInteger();
        this.workers = new ThreadPoolExecutor(
                WORKERS, WORKERS, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MOST_QUEUED), task -> {
                    Thread worker = new Thread(task, "larder-http-" + number.incrementAndGet());
                    worker.setDaemon(true);
                    return worker;
                });
        thread.setDaemon(true);
    }

    /**
     * Binds a port; clients are served from {@link #start} on.
     *
     * @param port 0 for any free port
     * @param handler creates the handler for the bound address
     * @throws dev.larder.error.LarderException REFUSED if the port is taken
     */
    static HttpListener bind(int port, Function<InetSocketAddress, Handler> handler) {
        ServerSocketChannel server = null;
        try {
            server = ServerSocketChannel.open();
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
            server.configureBlocking(false);
            Selector selector = Selector.open();
            server.register(selector, SelectionKey.OP_ACCEPT);
            return new HttpListener(server, selector, handler);
        } catch (IOException e) {
            closeQuietly(server);
            throw Failure.of(ErrorCode.REFUSED, "cannot listen for HTTP")
                    .with("port", port)
                    .with("reason", e)
                    .cause(e)
                    .remedy("name another port, or any free one with --http 0");
        }
    }

    void start() {
        thread.start();
    }

    InetSocketAddress address() {
        return address;
    }

    private void run() {
        while (!isClosed) {
            try {
                turn();
            } catch (IOException | RuntimeException | Error e) { // such as a full heap: the next round may succeed
                LOG.warn("cannot serve HTTP: {}", e.toString());
                pause();
            }
        }
        connections.forEach(HttpConnection::close);
        connections.clear();
        closeQuietly(server);
        closeQuietly(selector);
    }

    private void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(ACCEPT_PAUSE_MS);
        } catch (InterruptedException e) {
            isClosed = true;
        }
    }

    private void turn() throws IOException {
        long waitMs = dropLate();
        selector.select(waitMs);
        for (Answered next = answered.poll(); next != null; next = answered.poll()) {
            ByteBuffer answer = next.answer;
            if (answer == null) {
                drop(next.connection);
            } else if (connections.contains(next.connection)) {
                next.connection.answer(answer, deadline());
                serve(next.connection, this::write);
            }
        }
        List<SelectionKey> ready = new ArrayList<>(selector.selectedKeys());
        selector.selectedKeys().clear();
        for (SelectionKey key : ready) {
            if (key.attachment() instanceof HttpConnection connection) {
                serve(connection, this::serveReady);
            }
        }
        acceptSome();
    }

    /** Serves one client, which may have left. */
    private interface Service {
        void serve(HttpConnection connection) throws IOException;
    }

    private void serve(HttpConnection connection, Service service) {
        try {
            if (connections.contains(connection)) {
                service.serve(connection);
            }
        } catch (IOException clientIsGone) {
            drop(connection);
        } catch (RuntimeException | Error e) {
            drop(connection);
            throw e;
        }
    }

    private void serveReady(HttpConnection connection) throws IOException {
        if (connection.stage() == HttpConnection.Stage.WRITING) {
            write(connection);
        } else if (!connection.read()) {
            drop(connection);
        } else if (connection.stage() == HttpConnection.Stage.READING) {
            takeRequest(connection);
        }
    }

    private void write(HttpConnection connection) throws IOException {
        connection.write(deadline());
    }

    private void takeRequest(HttpConnection connection) throws IOException {
        String head = connection.head();
        if (head == null) {
            if (connection.isTooLong()) {
                send(connection, HttpReply.refusal(431, Map.of(), "the request is too long"), true);
            }
            return;
        }
        HttpCall call = HttpCall.parse(head);
        if (call == null) {
            send(connection, HttpReply.refusal(400, Map.of(), "not a request that this server understands"), true);
            return;
        }
        boolean withBody = !call.method().equals("HEAD");
        HttpReply refusal = handler.refuse(call);
        if (refusal != null) {
            send(connection, refusal, withBody);
            return;
        }
        connection.awaitAnswer();
        try {
            workers.execute(() -> {
                ByteBuffer answer = null;
                try {
                    answer = handler.answer(call).encode(withBody);
                } finally { // also if the heap is full
                    answered.add(new Answered(connection, answer));
                    selector.wakeup();
                }
            });
        } catch (RejectedExecutionException e) {
            send(connection, HttpReply.refusal(503, Map.of(), "too many requests: try again later"), withBody);
        }
    }

    private void send(HttpConnection connection, HttpReply reply, boolean withBody) throws IOException {
        connection.answer(reply.encode(withBody), deadline());
        write(connection);
    }

    private static long deadline() {
        return System.nanoTime() + PATIENCE_NANOS;
    }

    /** Accepts a few clients at a time, or the others would wait. Reads each immediately, because its request has usually arrived. */
    private void acceptSome() {
        for (int i = 0; i < MOST_ACCEPTED_AT_ONCE; i++) {
            SocketChannel channel = null;
            try {
                channel = server.accept();
                if (channel == null) {
                    return;
                }
                add(channel);
            } catch (IOException e) { // such as no descriptor left
                LOG.debug("cannot accept a client of HTTP: {}", Failure.words(e));
                closeQuietly(channel);
                pause();
                return;
            }
        }
    }

    private void add(SocketChannel channel) throws IOException {
        if (connections.size() >= MOST_CONNECTIONS && !makePlace()) {
            channel.close();
            return;
        }
        channel.configureBlocking(false);
        SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
        HttpConnection connection = new HttpConnection(channel, key, deadline());
        key.attach(connection);
        connections.add(connection);
        serve(connection, this::serveReady);
    }

    private boolean makePlace() {
        for (HttpConnection connection : connections) {
            if (connection.mayBeDropped()) {
                drop(connection);
                return true;
            }
        }
        return false;
    }

    private void drop(HttpConnection connection) {
        connections.remove(connection);
        connection.close();
    }

    /** Drops late clients; returns how long to wait for the next deadline, 0 for no deadline. */
    private long dropLate() {
        long now = System.nanoTime();
        long least = Long.MAX_VALUE;
        for (HttpConnection connection : List.copyOf(connections)) {
            if (connection.stage() != HttpConnection.Stage.ANSWERING) {
                long left = connection.deadlineNanos() - now;
                if (left <= 0) {
                    drop(connection);
                } else {
                    least = Math.min(least, left);
                }
            }
        }
        return least == Long.MAX_VALUE ? 0 : TimeUnit.NANOSECONDS.toMillis(least) + 1;
    }

    private static void closeQuietly(@Nullable AutoCloseable resource) {
        try {
            if (resource != null) {
                resource.close();
            }
        } catch (Exception ignored) {
            // closed all the same
        }
    }

    /** Stops listening and drops all clients. Idempotent; works even without {@link #start}. */
    @Override
    public void close() {
        isClosed = true;
        workers.shutdownNow();
        closeQuietly(server);
        if (thread.isAlive()) {
            selector.wakeup();
            try {
                thread.join(PATIENCE_NANOS / 1_000_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        } else {
            closeQuietly(selector);
        }
    }
}
