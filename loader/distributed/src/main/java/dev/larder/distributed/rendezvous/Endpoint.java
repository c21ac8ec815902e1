package dev.larder.distributed.rendezvous;

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
 * Where launchers, nodes or ranks meet: an address of the machine that leads, or has rank 0.
 *
 * @param host a name or an address, as somebody wrote it
 * @param port where the one listens that the others come to
 */
public record Endpoint(String host, int port) {
    /** The port where none is named, as of {@code torchrun}. */
    public static final int USUAL_PORT = 29_400;

    private static final int LARGEST_PORT = 65_535;

    /** An address of no machine (RFC 5737): the way to it is that to other machines. */
    private static final InetSocketAddress ELSEWHERE = new InetSocketAddress("192.0.2.1", 9);

    /** Reads {@code HOST[:PORT]}, where an IPv6 address before a port stands in brackets. */
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

    /** Reads that of an address {@code tcp://HOST:PORT}; refuses hosts of other machines. */
    static Endpoint of(MeetingUrl url) {
        String place =
                url.place().endsWith("/") ? url.place().substring(0, url.place().length() - 1) : url.place();
        int colon = place.lastIndexOf(':');
        Integer port = colon < 1 ? null : LaunchVariables.number(place.substring(colon + 1));
        if (port == null || port == 0 || port > LARGEST_PORT) {
            throw url.badPlace("not a host and a port");
        }
        return new Endpoint(withoutBrackets(place.substring(0, colon)), port).requireHere(url.text());
    }

    private static String withoutBrackets(String host) {
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }

    /** Refuses a host of another machine. */
    Endpoint requireHere(String url) {
        Object unused = resolved(url);
        if (!isHere()) {
            throw Rendezvous.severalMachines("host", host);
        }
        return this;
    }

    /** Returns the address; looks the name up anew each time, as one may become known only when its machine is up. */
    public InetSocketAddress address() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }

    /** Returns the address; fails where nobody knows the host. */
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

    /** Refuses an address that stands for all addresses of a machine, so that others cannot reach it. */
    public void requireReachable() {
        boolean isName = !host.contains(":") && !host.matches("[0-9.]+");
        if (!isName && is(InetAddress::isAnyLocalAddress)) {
            throw Failure.of(ErrorCode.USAGE, "nobody can reach this rendezvous endpoint")
                    .with("endpoint", text())
                    .remedy("name an address of one of the machines instead of " + host);
        }
    }

    /** Refuses a meeting that other machines can reach where nothing tells its ranks from strangers. */
    void requireSecret(RunSecret secret) {
        if (!secret.isGiven() && !isLoopback()) {
            throw Failure.of(ErrorCode.REFUSED, "other machines reach the rendezvous, and the run has no secret")
                    .with("address", text())
                    .remedy(RunSecret.REMEDY);
        }
    }

    /** Something that is so of an address, or not. */
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

    /** Tells whether it is only for processes of this machine; a name that nobody knows is not. */
    public boolean isLoopback() {
        return is(InetAddress::isLoopbackAddress);
    }

    /** Tells whether it is an address of this machine. */
    public boolean isHere() {
        return is(address -> address.isLoopbackAddress()
                || address.isAnyLocalAddress()
                || NetworkInterface.getByInetAddress(address) != null);
    }

    /**
     * Returns where to listen: at its address; but everywhere where the name of this machine leads it to itself alone, as
     * Debian's 127.0.1.1 does, and a secret keeps strangers out.
     */
    public InetSocketAddress listenAddress(boolean hasSecret) throws UnknownHostException {
        InetSocketAddress own = address();
        return hasSecret && isOnlyHere(own.getAddress()) ? new InetSocketAddress(port) : own;
    }

    /** Returns the address of this machine, which has this endpoint, that others reach it at. */
    String ownAddress(String url) {
        InetAddress own = resolved(url).getAddress();
        return isOnlyHere(own) ? facing(ELSEWHERE, own).getHostAddress() : own.getHostAddress();
    }

    /** Returns the address of this machine that faces another; one where no way leads there. */
    static InetAddress facing(InetSocketAddress other, InetAddress otherwise) {
        try (DatagramSocket probe = new DatagramSocket()) { // chooses a way, and sends nothing
            probe.connect(other);
            return probe.getLocalAddress();
        } catch (SocketException noWay) {
            return otherwise;
        }
    }

    /** Tells whether the host is a name that means another address on other machines. */
    public boolean isOnlyHere(InetAddress address) {
        boolean isMeant = host.equalsIgnoreCase("localhost") || host.startsWith("127.") || host.contains(":");
        return address.isLoopbackAddress() && !isMeant;
    }

    /** Returns the refusal of a node that is to lead, and does not have the address. */
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
