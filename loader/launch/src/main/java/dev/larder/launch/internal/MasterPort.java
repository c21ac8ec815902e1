package dev.larder.launch.internal;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;

/**
 * The port that rank 0 may listen at: of the loopback address, or of all addresses where ranks of other machines come, too. One that
 * was chosen freely is held for as long as the ranks live, by a socket that is bound but does not listen: nobody else is given it by
 * chance, while rank 0 may listen there, as long as it sets SO_REUSEADDR as servers do.
 */
public final class MasterPort implements AutoCloseable {
    private static final byte[] LOOPBACK = {127, 0, 0, 1};

    private final int number;
    private final Socket holder;

    private MasterPort(int number, Socket holder) {
        this.number = number;
        this.holder = holder;
    }

    /** Takes the port that was asked for, 0 for a free one. */
    public static MasterPort take(int wanted) {
        return take(wanted, loopback());
    }

    /** Takes the port that was asked for, 0 for a free one, of all addresses of this machine. */
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
                port.close(); // whoever names a port may have a program that wants it for itself alone
            }
            return port;
        } catch (IOException e) {
            closeQuietly(holder);
            throw Failure.of(ErrorCode.REFUSED, "the master port cannot be used")
                    .with("port", wanted)
                    .with("reason", e)
                    .cause(e)
                    .remedy("leave it out for a free one, or end what listens there (ss -ltnp shows it)");
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
