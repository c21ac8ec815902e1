package dev.larder.readers.s3;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Stands between a client and a server of HTTP: counts requests without bodies, refuses some, and cuts connections. */
final class FlakyProxy implements AutoCloseable {
    private static final int CUT_AFTER_BYTES = 300_000;

    private final ServerSocket listener;
    private final URI server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<String> requests = new CopyOnWriteArrayList<>();

    /** So many of the next requests are answered with the status 503. */
    final AtomicInteger busy = new AtomicInteger();

    /** So many of the next connections that ask for ranges break off. */
    final AtomicInteger cut = new AtomicInteger();

    /** What has come back. */
    final AtomicLong bytes = new AtomicLong();

    /** Runs before each request for data is handed on. */
    volatile Runnable beforeData = () -> {};

    FlakyProxy(URI server) throws IOException {
        this.server = server;
        this.listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        threads.execute(this::accept);
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    /** Returns the requests for objects or parts of them: the path, and the range behind a space. */
    List<String> gets() {
        return requests.stream()
                .filter(request -> !request.contains("list-type="))
                .toList();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                threads.execute(() -> serve(client));
            }
        } catch (IOException closed) {
            return;
        }
    }

    private void serve(Socket client) {
        try (client;
                Socket upstream = new Socket(server.getHost(), server.getPort())) {
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
            AtomicLong left = new AtomicLong(Long.MAX_VALUE);
            threads.execute(() -> answer(upstream, client, left));
            InputStream in = new BufferedInputStream(client.getInputStream());
            for (String head = head(in); !head.isEmpty(); head = head(in)) {
                if (busy.getAndUpdate(count -> Math.max(0, count - 1)) > 0) {
                    client.getOutputStream()
                            .write("HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                                    .getBytes(StandardCharsets.US_ASCII));
                    return;
                }
                note(head, left);
                upstream.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
            }
        } catch (IOException gone) {
            return;
        }
    }

    private void note(String head, AtomicLong left) {
        String range = head.lines()
                .filter(line -> line.regionMatches(true, 0, "range:", 0, 6))
                .map(line -> " " + line.substring(6).strip())
                .findFirst()
                .orElse("");
        if (head.startsWith("GET ")) {
            requests.add(head.split(" ", 3)[1] + range);
        }
        if (!range.isEmpty()) {
            beforeData.run();
            if (cut.getAndUpdate(count -> Math.max(0, count - 1)) > 0) {
                left.set(CUT_AFTER_BYTES);
            }
        }
    }

    /** Reads up to the empty line that ends a request without a body; empty at the end. */
    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        for (int value = in.read(); value >= 0; value = in.read()) {
            head.append((char) value);
            if (value == '\n' && head.toString().endsWith("\r\n\r\n")) {
                return head.toString();
            }
        }
        return "";
    }

    private void answer(Socket upstream, Socket client, AtomicLong left) {
        byte[] some = new byte[64 << 10];
        try {
            InputStream in = upstream.getInputStream();
            OutputStream out = client.getOutputStream();
            for (int count = in.read(some); count >= 0; count = in.read(some)) {
                int kept = (int) Math.min(count, left.get());
                out.write(some, 0, kept);
                bytes.addAndGet(kept);
                if (left.addAndGet(-kept) <= 0) {
                    break;
                }
            }
            client.close();
            upstream.close();
        } catch (IOException gone) {
            return;
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
