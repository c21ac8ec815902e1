package dev.larder.distributed.internal.meeting;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;

/**
 * The place at which launchers, nodes or ranks meet: an address of the machine that leads, or has rank 0.
 *
 * @param host a name or an address, as the user wrote it
 * @param port of the listener
 */
public record Endpoint(String host, int port) {
    /** The default port, as for {@code torchrun}. */
    public static final int USUAL_PORT = 29_400;

    static final int LARGEST_PORT = 65_535;

    /** An address of no machine (RFC 5737). The route to it is the route to other machines. */
    private static final InetSocketAddress ELSEWHERE = new InetSocketAddress("192.0.2.1", 9);

    /** Parses {@code HOST[:PORT]}; an IPv6 address before a port is in brackets. */
    public static Endpoint parse(String text) {
        int colon = text.lastIndexOf(':');
        boolean hasPort = colon > 0 && (text.indexOf(':') == colon || text.charAt(colon - 1) == ']');
        String host = hasPort ? text.substring(0, colon) : text;
        String port = hasPort ? text.substring(colon + 1) : Integer.toString(USUAL_PORT);
        if (host.isBlank() || colon == 0 || !port.matches("\\d{1,5}") || Integer.parseInt(port) > LARGEST_PORT) {
            throw Failure.of(ErrorCode.USAGE, "the rendezvous endpoint is not HOST:PORT")
                    .with("endpoint", text)
                    .remedy("name an address of one of the machines, and the same port for all of them: HOST:"
                            + USUAL_PORT);
        }
        return new Endpoint(withoutBrackets(host), Integer.parseInt(port));
    }

    static String withoutBrackets(String host) {
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }

    /** Refuses a host of another machine. */
    Endpoint requireHere(String url) {
        Object unused = resolved(url);
        if (!isHere()) {
            throw Failure.of(ErrorCode.REFUSED, "ranks on another machine")
                    .with("host", host)
                    .remedy(
                            "start all ranks on this machine, at 127.0.0.1; those of several machines meet at env://, as"
                                    + " larder launch --nnodes or torchrun set it");
        }
        return this;
    }

    /** Returns the address. Each call looks up the name, because a name may be unknown until its machine is up. */
    public InetSocketAddress address() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }

    /** Returns the address; fails if the host is unknown. */
    InetSocketAddress resolved(String url) {
        try {
            return address();
        } catch (UnknownHostException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "no such host")
                    .with("host", host)
                    .with("address", url)
                    .cause(e)
                    .remedy("ranks of one machine meet at 127.0.0.1");
        }
    }

    /** Refuses the address 0.0.0.0, which other machines cannot reach. */
    public void requireReachable() {
        boolean isName = !host.contains(":") && !host.matches("[0-9.]+");
        if (!isName && is(InetAddress::isAnyLocalAddress)) {
            throw Failure.of(ErrorCode.USAGE, "no machine can reach this rendezvous endpoint")
                    .with("endpoint", text())
                    .remedy("name an address of one of the machines instead of " + host);
        }
    }

    /** Refuses a meeting without a secret that other machines can reach. */
    void requireSecret(RunSecret secret) {
        if (!secret.isGiven() && !isLoopback()) {
            throw Failure.of(ErrorCode.REFUSED, "other machines reach the rendezvous, and the run has no secret")
                    .with("address", text())
                    .remedy(RunSecret.REMEDY);
        }
    }

    /** A property of an address. */
    private interface Trait {
        boolean isOf(InetAddress address) throws SocketException;
    }

    private boolean is(Trait trait) {
        try {
            return trait.isOf(InetAddress.getByName(host));
        } catch (UnknownHostException e) {
            return false;
        } catch (SocketException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot list the network interfaces of this machine")
                    .cause(e)
                    .remedy("use 127.0.0.1");
        }
    }

    /** Returns whether only processes of this machine can reach it; false for an unknown name. */
    public boolean isLoopback() {
        return is(InetAddress::isLoopbackAddress);
    }

    /** Returns whether it is an address of this machine. */
    public boolean isHere() {
        return is(address -> address.isLoopbackAddress()
                || address.isAnyLocalAddress()
                || NetworkInterface.getByInetAddress(address) != null);
    }

    /**
     * Returns the address to listen at. If the name of this machine resolves to a loopback address (Debian: 127.0.1.1), and a secret keeps
     * strangers out, that is every address.
     */
    public InetSocketAddress listenAddress(boolean hasSecret) throws UnknownHostException {
        InetSocketAddress own = address();
        return hasSecret && isOnlyHere(own.getAddress()) ? new InetSocketAddress(port) : own;
    }

    /** Returns the address at which others reach this machine, which has this endpoint. */
    String ownAddress(String url) {
        InetAddress own = resolved(url).getAddress();
        return isOnlyHere(own) ? facing(ELSEWHERE, own).getHostAddress() : own.getHostAddress();
    }

    /** Returns the address of this machine that faces another one, or the alternative if there is no route. */
    static InetAddress facing(InetSocketAddress other, InetAddress alternative) {
        try (DatagramSocket probe = new DatagramSocket()) { // chooses a route, and sends nothing
            probe.connect(other);
            return probe.getLocalAddress();
        } catch (SocketException noRoute) {
            return alternative;
        }
    }

    /** Returns whether the host is a name that means another address on other machines. */
    public boolean isOnlyHere(InetAddress address) {
        boolean isMeant = host.equalsIgnoreCase("localhost") || host.startsWith("127.") || host.contains(":");
        return address.isLoopbackAddress() && !isMeant;
    }

    /** Returns the refusal of a node that has to lead, but does not have the address. */
    public LarderException notHere() {
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
