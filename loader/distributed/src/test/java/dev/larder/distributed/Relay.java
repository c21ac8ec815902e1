package dev.larder.distributed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Stands between nodes, as a network does that can be cut, or that loses all it is given from one moment on. */
final class Relay implements AutoCloseable {
    private final Map<Integer, Integer> ports = new ConcurrentHashMap<>();
    private final Queue<AutoCloseable> opened = new ConcurrentLinkedQueue<>();
    private volatile boolean isLosing;

    /** Returns a port that leads to another one. */
    int to(int port) {
        return ports.computeIfAbsent(port, this::listen);
    }

    private int listen(int target) {
        try {
            ServerSocket listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
            opened.add(listener);
            start(() -> {
                while (true) {
                    Socket from = listener.accept();
                    opened.add(from);
                    try {
                        Socket to = new Socket(InetAddress.getLoopbackAddress(), target);
                        opened.add(to);
                        start(() -> copy(from, to));
                        start(() -> copy(to, from));
                    } catch (IOException nobodyThere) {
                        from.close();
                    }
                }
            });
            return listener.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    private static void start(Step step) {
        Thread thread = new Thread(
                () -> {
                    try {
                        step.run();
                    } catch (IOException closed) {
                        return;
                    }
                },
                "relay");
        thread.setDaemon(true);
        thread.start();
    }

    private void copy(Socket from, Socket to) throws IOException {
        byte[] buffer = new byte[1 << 16];
        for (int n = from.getInputStream().read(buffer);
                n >= 0;
                n = from.getInputStream().read(buffer)) {
            if (!isLosing) {
                to.getOutputStream().write(buffer, 0, n);
            }
        }
        if (!isLosing) { // an end would say something, too
            to.close();
        }
    }

    /** Loses all that comes from now on, and says nothing. */
    void lose() {
        isLosing = true;
    }

    @Override
    public void close() {
        cut();
    }

    /** Ends all connections. */
    void cut() {
        for (AutoCloseable one : opened) {
            try {
                one.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
