package dev.larder.launch.internal;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;

/**
 * The port for rank 0, of the loopback address, or of all addresses if there are ranks on other machines. A free port is held while the
 * ranks live, by a socket that is bound but does not listen: the kernel gives it to no other process, while rank 0 can listen there if it
 * sets SO_REUSEADDR, as servers do.
 */
public final class MasterPort implements AutoCloseable {
    private static final byte[] LOOPBACK = {127, 0, 0, 1};

    private final int number;
    private final Socket holder;

    private MasterPort(int number, Socket holder) {
        this.number = number;
        this.holder = holder;
    }

    /** Takes a port, or a free one for 0. */
    public static MasterPort take(int wanted) {
        return take(wanted, loopback());
    }

    /** Takes a port, or a free one for 0, of all addresses of this machine. */
    public static MasterPort takeForOthers(int wanted) {
        return take(wanted, new InetSocketAddress(0).getAddress());
    }

    private static InetAddress loopback() {
        try {
            return InetAddress.getByAddress(LOOPBACK);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are an address", e);
        }
    }

    private static MasterPort take(int wanted, InetAddress address) {
        Socket holder = new Socket();
        try {
            holder.setReuseAddress(true);
            holder.bind(new InetSocketAddress(address, wanted));
            MasterPort port = new MasterPort(holder.getLocalPort(), holder);
            if (wanted != 0) {
                port.close(); // a program that does not set SO_REUSEADDR may need a port that the user names
            }
            return port;
        } catch (IOException e) {
            closeQuietly(holder);
            throw Failure.of(ErrorCode.REFUSED, "the master port cannot be used")
                    .with("port", wanted)
                    .with("reason", e)
                    .cause(e)
                    .remedy("leave it out for a free one, or end the program that listens there (ss -ltnp shows it)");
        }
    }

    /** Returns the port. */
    public int number() {
        return number;
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            return; // nothing was sent through it
        }
    }

    @Override
    public void close() {
        closeQuietly(holder);
    }
}
