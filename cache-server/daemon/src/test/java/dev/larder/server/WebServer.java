package dev.larder.server;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A web server on this machine that can be told to misbehave, and counts what it sends. */
final class WebServer implements AutoCloseable {
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, byte[]> files = new ConcurrentHashMap<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final AtomicLong sentBytes = new AtomicLong();

    /** What it does wrong, or differently. */
    volatile boolean hasRanges = true;

    volatile boolean hasTags = true;
    volatile String tag = "\"one\"";
    volatile String wantedAuthorization = "";
    volatile long pauseMs;

    /** How long it says that files are, in what it says of ranges; 0 for the truth. */
    volatile long claimedBytes;

    /** So many of the next answers are the status 503. */
    final AtomicInteger busy = new AtomicInteger();

    /** So many of the next answers break off in the middle. */
    final AtomicInteger cut = new AtomicInteger();

    /** After so many answers with data the tag is another one. */
    final AtomicInteger changesAfter = new AtomicInteger(Integer.MAX_VALUE);

    WebServer() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    void put(String path, byte[] content) {
        files.put(path, content);
    }

    void put(String path, String content) {
        put(path, content.getBytes(StandardCharsets.UTF_8));
    }

    String address(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    /** Returns the requests so far: the path, and the range behind a space. */
    List<String> requests() {
        return requests;
    }

    long sentBytes() {
        return sentBytes.get();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            pause();
            String path = exchange.getRequestURI().getPath();
            String range = exchange.getRequestHeaders().getFirst("Range");
            byte[] content = files.get(path);
            requests.add(exchange.getRequestURI() + (range == null ? "" : " " + range));
            if (busy.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                exchange.sendResponseHeaders(503, -1);
            } else if (!wantedAuthorization.isEmpty()
                    && !wantedAuthorization.equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
                exchange.sendResponseHeaders(401, -1);
            } else if (path.startsWith("/moved/")) {
                exchange.getResponseHeaders().add("Location", address(path.substring("/moved".length())));
                exchange.sendResponseHeaders(302, -1);
            } else if (path.endsWith("/") && content == null) {
                sendIndex(exchange, path);
            } else if (content != null && path.endsWith("/")) {
                exchange.getResponseHeaders().add("Content-Type", "text/plain");
                exchange.sendResponseHeaders(200, content.length);
                exchange.getResponseBody().write(content);
            } else if (content != null) {
                send(exchange, content, range);
            } else {
                exchange.sendResponseHeaders(404, -1);
            }
        }
    }

    private void pause() {
        try {
            Thread.sleep(pauseMs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends a page as nginx makes it. */
    private void sendIndex(HttpExchange exchange, String path) throws IOException {
        StringBuilder page = new StringBuilder("<html><body><a href=\"../\">../</a>\n<a href=\"?C=N;O=D\">Name</a>\n");
        files.keySet().stream()
                .filter(file -> file.startsWith(path))
                .map(file -> file.substring(path.length()))
                .map(file -> file.contains("/") ? file.substring(0, file.indexOf('/') + 1) : file)
                .distinct()
                .forEach(file -> page.append("<a href=\"")
                        .append(file)
                        .append("\">")
                        .append(file)
                        .append("</a>\n"));
        byte[] bytes = page.append("</body></html>").toString().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "text/html; charset=utf-8");
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private void send(HttpExchange exchange, byte[] content, String range) throws IOException {
        int from = 0;
        int end = content.length;
        boolean isPart = hasRanges && range != null && content.length > 0;
        if (isPart) {
            String[] bounds = range.substring("bytes=".length()).split("-", 2);
            from = Integer.parseInt(bounds[0]);
            end = Math.min(end, Integer.parseInt(bounds[1]) + 1);
        }
        if (end - from > 1 && changesAfter.decrementAndGet() < 0) {
            tag = "\"two\"";
        }
        Headers headers = exchange.getResponseHeaders();
        String match = exchange.getRequestHeaders().getFirst("If-Match");
        if (hasTags) {
            headers.add("ETag", tag);
            if (match != null && !match.equals(tag)) {
                exchange.sendResponseHeaders(412, -1);
                return;
            }
        }
        if (isPart) {
            long total = claimedBytes == 0 ? content.length : claimedBytes;
            headers.add("Content-Range", "bytes " + from + "-" + (end - 1) + "/" + total);
        }
        exchange.sendResponseHeaders(isPart ? 206 : 200, end == from ? -1 : end - from);
        boolean isCut = end - from > 1 && cut.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
        int length = isCut ? (end - from) / 2 : end - from;
        OutputStream body = exchange.getResponseBody();
        body.write(content, from, length);
        body.flush();
        sentBytes.addAndGet(length);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
