package dev.larder.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A wire to a port of this machine that can be cut, become silent, or change a byte. */
final class Wire implements AutoCloseable {
    private final ServerSocket listener;
    private final int target;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private volatile boolean isSilent;
    private volatile boolean spoils;

    Wire(int target) throws IOException {
        this.listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        this.target = target;
        start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Closes what is connected. */
    void cut() {
        sockets.forEach(Wire::close);
        sockets.clear();
    }

    /** Swallows all that comes from now on, on connections that stay. */
    void silence() {
        isSilent = true;
    }

    /** Changes the next byte. */
    void spoil() {
        spoils = true;
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "test-wire");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket near = listener.accept();
                Socket far;
                try {
                    far = new Socket(InetAddress.getLoopbackAddress(), target);
                } catch (IOException nobodyThere) {
                    near.close();
                    continue;
                }
                sockets.add(near);
                sockets.add(far);
                start(() -> carry(near, far));
                start(() -> carry(far, near));
            }
        } catch (IOException closed) {
            cut();
        }
    }

    private void carry(Socket from, Socket to) {
        byte[] buffer = new byte[4096];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                if (spoils) {
                    spoils = false;
                    buffer[count - 1]++;
                }
                if (!isSilent) {
                    out.write(buffer, 0, count);
                }
            }
        } catch (IOException gone) {
            // The other direction ends with it.
        }
        if (!isSilent) {
            close(from);
            close(to);
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            return; // gone either way
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        cut();
    }
}
