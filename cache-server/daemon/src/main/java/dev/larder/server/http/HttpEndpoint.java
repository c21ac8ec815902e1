package dev.larder.server.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers on the loopback interface what is read under a few paths, to those who know the token; everybody else is told 401,
 * whatever the path, and 421 who calls this server by a name that is not its own. Two threads of its own, few connections, each
 * for a few seconds: what a client does or leaves undone is felt by no other part of the daemon. Nothing that is asked changes
 * anything: only GET and HEAD are answered.
 */
public final class HttpEndpoint implements AutoCloseable {
    /** The path of the status page, which takes the token out of its address. */
    public static final String PAGE = "/";

    /** The path of the metrics. */
    public static final String METRICS = "/metrics";

    private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);
    private static final int THREADS = 2;
    private static final int BACKLOG = 16;
    private static final int SEE_OTHER = 303;
    private static final int NOT_MODIFIED = 304;
    private static final int MISDIRECTED = 421;
    private static final int LEAST_ZIPPED = 1_024;

    /** The JDK's server reads these once, when it is first used. Seconds and counts. */
    private static final Map<String, String> LIMITS = Map.of(
            "jdk.httpserver.maxConnections", "32",
            "sun.net.httpserver.maxIdleConnections", "16",
            "sun.net.httpserver.idleInterval", "5",
            "sun.net.httpserver.maxReqTime", "5",
            "sun.net.httpserver.maxRspTime", "5",
            "sun.net.httpserver.maxReqHeaders", "50");

    /** A page takes scripts, styles and pictures from here alone, is in no frame, and tells no other site its address. */
    private static final Map<String, String> GUARDS = Map.of(
            "Content-Security-Policy",
            "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options",
            "nosniff",
            "Referrer-Policy",
            "no-referrer",
            "Cross-Origin-Resource-Policy",
            "same-origin",
            "Cache-Control",
            "no-store",
            "Connection",
            "close");

    private static final Map<ErrorCode, Integer> STATUS = Map.of(ErrorCode.NOT_FOUND, 404, ErrorCode.USAGE, 400);

    private final HttpServer server;
    private final ExecutorService threads;
    private final AccessToken token = AccessToken.random();
    private final HostNames names;
    private final Path tokenFile;
    private final Map<String, HttpResource> resources;
    private final AtomicBoolean closed = new AtomicBoolean();

    private HttpEndpoint(HttpServer server, HostNames names, Path tokenFile, Map<String, HttpResource> resources) {
        this.server = server;
        this.names = names;
        this.tokenFile = tokenFile;
        this.resources = Map.copyOf(resources);
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
     * @param resources what is read, by path
     * @throws dev.larder.error.LarderException REFUSED where the port is taken
     */
    public static HttpEndpoint start(int port, Set<String> hosts, Path tokenFile, Map<String, HttpResource> resources) {
        LIMITS.forEach((name, value) -> System.setProperty(name, System.getProperty(name, value)));
        HttpServer server = bind(port);
        HttpEndpoint endpoint = new HttpEndpoint(server, HostNames.loopbackAnd(hosts), tokenFile, resources);
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

    /** Returns where the page is read by those who have the token: it is no part of it. */
    public URI address() {
        InetSocketAddress bound = server.getAddress();
        return URI.create("http://" + bound.getAddress().getHostAddress() + ":" + bound.getPort() + PAGE);
    }

    /** Returns where a path is read; the token is part of it. */
    public URI address(String path) {
        return address().resolve(path + "?" + AccessToken.PARAMETER + token.text());
    }

    private void answer(HttpExchange exchange) {
        try (exchange) {
            GUARDS.forEach(exchange.getResponseHeaders()::set);
            if (!names.isNamedBy(exchange)) {
                refuse(exchange, MISDIRECTED);
            } else if (!token.isKnownTo(exchange)) {
                exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
                refuse(exchange, 401);
            } else {
                answerKnown(exchange);
            }
        } catch (IOException | UncheckedIOException clientIsGone) {
            LOG.debug("a client of HTTP left: {}", clientIsGone.getMessage());
        } catch (RuntimeException e) {
            LOG.warn("cannot answer over HTTP: {}", e.getMessage());
        }
    }

    private void answerKnown(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        HttpResource resource = resources.get(path);
        if (resource == null) {
            refuse(exchange, 404);
        } else if (!List.of("GET", "HEAD").contains(exchange.getRequestMethod())) {
            exchange.getResponseHeaders().set("Allow", "GET, HEAD");
            refuse(exchange, 405);
        } else if (path.equals(PAGE) && token.isInAddressOf(exchange)) {
            exchange.getResponseHeaders().set("Set-Cookie", token.cookie(exchange));
            exchange.getResponseHeaders().set("Location", PAGE);
            refuse(exchange, SEE_OTHER);
        } else {
            send(exchange, resource);
        }
    }

    private static void refuse(HttpExchange exchange, int status) throws IOException {
        exchange.sendResponseHeaders(status, -1);
    }

    private static void send(HttpExchange exchange, HttpResource resource) throws IOException {
        Headers asked = exchange.getRequestHeaders();
        int status = 200;
        HttpAnswer answer;
        try {
            answer = resource.answer(HttpQuestion.of(exchange.getRequestURI().getRawQuery(), asked.getFirst("Accept")));
        } catch (LarderException e) {
            status = STATUS.getOrDefault(e.code(), 500);
            answer = HttpAnswer.of(
                    "text/plain; charset=utf-8", String.valueOf(e.getMessage()).getBytes(StandardCharsets.UTF_8));
        }
        Headers told = exchange.getResponseHeaders();
        if (!answer.tag().isEmpty()) {
            told.set("ETag", answer.tag());
            if (answer.tag().equals(asked.getFirst("If-None-Match"))) {
                refuse(exchange, NOT_MODIFIED);
                return;
            }
        }
        told.set("Content-Type", answer.type());
        byte[] body = answer.body();
        if (answer.isText() && body.length >= LEAST_ZIPPED && takesZipped(asked)) {
            told.set("Content-Encoding", "gzip");
            body = zipped(body);
        }
        if (exchange.getRequestMethod().equals("HEAD")) {
            told.set("Content-Length", Integer.toString(body.length));
            refuse(exchange, status);
        } else {
            exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private static boolean takesZipped(Headers asked) {
        return asked.getOrDefault("Accept-Encoding", List.of()).stream()
                .anyMatch(accepted -> accepted.matches("(.*,)?\\s*gzip\\s*(,.*)?"));
    }

    private static byte[] zipped(byte[] body) throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream(body.length / 4);
        try (GZIPOutputStream zip = new GZIPOutputStream(zipped)) {
            zip.write(body);
        }
        return zipped.toByteArray();
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
                LOG.warn("cannot remove the token for HTTP: {}", e.getMessage());
            }
        }
    }
}
