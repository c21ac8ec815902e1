package dev.larder.server.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers {@code /metrics} on the loopback interface, to those who know the token; everybody else is told 401, whatever the
 * path, and 421 who calls this server by a name that is not its own. Two threads of its own, few connections, each for a few
 * seconds: what a client does or leaves undone is felt by no other part of the daemon.
 */
public final class MetricsEndpoint implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MetricsEndpoint.class);
    private static final String PATH = "/metrics";
    private static final int THREADS = 2;
    private static final int BACKLOG = 16;
    private static final int MISDIRECTED = 421;

    /** The JDK's server reads these once, when it is first used. Seconds and counts. */
    private static final Map<String, String> LIMITS = Map.of(
            "jdk.httpserver.maxConnections", "32",
            "sun.net.httpserver.maxIdleConnections", "16",
            "sun.net.httpserver.idleInterval", "5",
            "sun.net.httpserver.maxReqTime", "5",
            "sun.net.httpserver.maxRspTime", "5",
            "sun.net.httpserver.maxReqHeaders", "50");

    private final HttpServer server;
    private final ExecutorService threads;
    private final AccessToken token;
    private final HostNames names;
    private final Path tokenFile;
    private final Supplier<MetricSnapshots> metrics;
    private final ExpositionFormats formats = ExpositionFormats.init();
    private final AtomicBoolean closed = new AtomicBoolean();

    private MetricsEndpoint(
            HttpServer server, HostNames names, AccessToken token, Path tokenFile, Supplier<MetricSnapshots> metrics) {
        this.server = server;
        this.names = names;
        this.token = token;
        this.tokenFile = tokenFile;
        this.metrics = metrics;
        AtomicInteger number = new AtomicInteger();
        this.threads = Executors.newFixedThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "larder-http-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Listens, and writes the token to a file that only its owner may read. The caller closes it.
     *
     * @param port 0 for any that is free
     * @param hosts by which names, besides those of the loopback interface, requests may call this server
     * @throws dev.larder.error.LarderException REFUSED where the port is taken
     */
    public static MetricsEndpoint start(
            int port, Set<String> hosts, Path tokenFile, Supplier<MetricSnapshots> metrics) {
        LIMITS.forEach((name, value) -> System.setProperty(name, System.getProperty(name, value)));
        HttpServer server = bind(port);
        MetricsEndpoint endpoint =
                new MetricsEndpoint(server, HostNames.loopbackAnd(hosts), AccessToken.random(), tokenFile, metrics);
        try {
            endpoint.token.writeTo(tokenFile);
            server.createContext("/", endpoint::answer);
            server.setExecutor(endpoint.threads);
            server.start();
            return endpoint;
        } catch (RuntimeException | Error e) {
            endpoint.close();
            throw e;
        }
    }

    private static HttpServer bind(int port) {
        try {
            return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.REFUSED, "cannot listen for HTTP")
                    .with("port", port)
                    .with("reason", e.getMessage())
                    .cause(e)
                    .remedy("name another port, or any free one with --http 0");
        }
    }

    /** Returns where metrics are read; the token is part of it. */
    public URI address() {
        InetSocketAddress bound = server.getAddress();
        return URI.create("http://" + bound.getAddress().getHostAddress() + ":" + bound.getPort() + PATH + "?"
                + AccessToken.PARAMETER + token.text());
    }

    private void answer(HttpExchange exchange) {
        try (exchange) {
            exchange.getResponseHeaders().set("Connection", "close");
            if (!names.isNamedBy(exchange)) {
                refuse(exchange, MISDIRECTED);
            } else if (!token.isKnownTo(exchange)) {
                exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
                refuse(exchange, 401);
            } else if (!exchange.getRequestURI().getPath().equals(PATH)) {
                refuse(exchange, 404);
            } else if (!exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET");
                refuse(exchange, 405);
            } else {
                tell(exchange);
            }
        } catch (IOException | UncheckedIOException clientIsGone) {
            LOG.debug("a client of the metrics endpoint left: {}", clientIsGone.getMessage());
        } catch (RuntimeException e) {
            LOG.warn("cannot send metrics: {}", e.getMessage());
        }
    }

    private static void refuse(HttpExchange exchange, int status) throws IOException {
        exchange.sendResponseHeaders(status, -1);
    }

    private void tell(HttpExchange exchange) throws IOException {
        ExpositionFormatWriter format =
                formats.findWriter(exchange.getRequestHeaders().getFirst("Accept"));
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        format.write(text, metrics.get());
        exchange.getResponseHeaders().set("Content-Type", format.getContentType());
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        exchange.sendResponseHeaders(200, text.size());
        text.writeTo(exchange.getResponseBody());
    }

    /** Stops listening, drops whoever is connected, and removes the token's file. May be called again. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            server.stop(0);
            threads.shutdownNow();
            try {
                token.removeFrom(tokenFile);
            } catch (IOException e) {
                LOG.warn("cannot remove the token for metrics: {}", e.getMessage());
            }
        }
    }
}
