package dev.larder.distributed.rendezvous;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;

/**
 * An address and a port, where rank 0 listens.
 *
 * @param text as somebody wrote it
 * @param address what that means
 */
record TcpEndpoint(String text, InetSocketAddress address) {
    private static final int LARGEST_PORT = 65535;

    static TcpEndpoint parse(MeetingUrl url) {
        String place =
                url.place().endsWith("/") ? url.place().substring(0, url.place().length() - 1) : url.place();
        int colon = place.lastIndexOf(':');
        Integer port = colon < 1 ? null : LaunchVariables.number(place.substring(colon + 1));
        if (port == null || port == 0 || port > LARGEST_PORT) {
            throw url.badPlace("not a host and a port");
        }
        String host = place.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        return of(bracketed ? host.substring(1, host.length() - 1) : host, port, url.text());
    }

    /** Finds an address of this machine; refuses those of others. */
    static TcpEndpoint of(String host, int port, String url) {
        TcpEndpoint place = anywhere(host, port, url);
        if (!place.isHere()) {
            throw Rendezvous.severalMachines("host", host);
        }
        return place;
    }

    /** Finds an address of this or another machine. */
    static TcpEndpoint anywhere(String host, int port, String url) {
        try {
            return new TcpEndpoint(host + ":" + port, new InetSocketAddress(InetAddress.getByName(host), port));
        } catch (UnknownHostException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "no such host")
                    .with("host", host)
                    .with("address", url)
                    .cause(e)
                    .remedy("ranks of one machine meet at 127.0.0.1");
        }
    }

    /** Tells whether this machine has the address. */
    boolean isHere() {
        InetAddress host = address.getAddress();
        try {
            return host.isLoopbackAddress()
                    || host.isAnyLocalAddress()
                    || NetworkInterface.getByInetAddress(host) != null;
        } catch (SocketException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot list the network interfaces of this machine")
                    .cause(e)
                    .remedy("use 127.0.0.1");
        }
    }

    /** Refuses a meeting that other machines can reach where nothing tells its ranks from strangers. */
    void requireSecret(RunSecret secret) {
        if (!secret.isGiven() && !address.getAddress().isLoopbackAddress()) {
            throw Failure.of(ErrorCode.REFUSED, "other machines reach the rendezvous, and the run has no secret")
                    .with("address", text)
                    .remedy(RunSecret.REMEDY);
        }
    }
}
