package dev.larder.cluster;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;

/**
 * Where the launchers of a run meet: an address of the machine that leads it.
 *
 * @param host a name or an address, as somebody wrote it
 * @param port where the leader listens
 */
public record Endpoint(String host, int port) {
    /** The port where none is named, as of {@code torchrun}. */
    public static final int USUAL_PORT = 29_400;

    private static final int LARGEST_PORT = 65_535;

    /** Reads {@code HOST[:PORT]}, where an IPv6 address before a port stands in brackets. */
    public static Endpoint parse(String text) {
        int colon = text.lastIndexOf(':');
        boolean hasPort = colon > 0 && (text.indexOf(':') == colon || text.charAt(colon - 1) == ']');
        String host = hasPort ? text.substring(0, colon) : text;
        String port = hasPort ? text.substring(colon + 1) : Integer.toString(USUAL_PORT);
        boolean isBracketed = host.startsWith("[") && host.endsWith("]");
        if (host.isBlank() || !port.matches("\\d{1,5}") || Integer.parseInt(port) > LARGEST_PORT) {
            throw Failure.of(ErrorCode.USAGE, "the rendezvous endpoint is not HOST:PORT")
                    .with("endpoint", text)
                    .remedy("name an address of one of the machines, and the same port for all of them: HOST:"
                            + USUAL_PORT);
        }
        return new Endpoint(isBracketed ? host.substring(1, host.length() - 1) : host, Integer.parseInt(port));
    }

    /** Returns the address; looks the name up anew each time, as one may become known only when its machine is up. */
    InetSocketAddress address() throws UnknownHostException {
        InetAddress address = InetAddress.getByName(host);
        if (address.isAnyLocalAddress()) {
            throw Failure.of(ErrorCode.USAGE, "nobody can reach this rendezvous endpoint")
                    .with("endpoint", text())
                    .remedy("name an address of one of the machines instead of " + host);
        }
        return new InetSocketAddress(address, port);
    }

    /** Tells whether it is only for processes of this machine; a name that nobody knows is not. */
    public boolean isLoopback() {
        try {
            return address().getAddress().isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /** Tells whether it is an address of this machine. */
    public boolean isHere() {
        try {
            InetAddress address = address().getAddress();
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (UnknownHostException e) {
            return false;
        } catch (SocketException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot list the network interfaces of this machine")
                    .cause(e)
                    .exception();
        }
    }

    /**
     * Returns where the leader listens: at its address; but everywhere where the name of this machine leads it to itself alone, as
     * Debian's 127.0.1.1 does, and a secret keeps strangers out.
     */
    InetSocketAddress listenAddress(boolean hasSecret) throws UnknownHostException {
        InetSocketAddress own = address();
        return hasSecret && isOnlyHere(own.getAddress()) ? new InetSocketAddress(port) : own;
    }

    /** Tells whether the host is a name that means another address on other machines. */
    boolean isOnlyHere(InetAddress address) {
        boolean isMeant = host.equalsIgnoreCase("localhost") || host.startsWith("127.") || host.contains(":");
        return address.isLoopbackAddress() && !isMeant;
    }

    LarderException notHere() {
        return Failure.of(
                        ErrorCode.USAGE,
                        "node rank 0 leads the run, and the rendezvous endpoint is not an address of its machine")
                .with("endpoint", text())
                .remedy("name an address of the machine of --node-rank 0");
    }

    /** Returns it as {@code HOST:PORT}. */
    public String text() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
