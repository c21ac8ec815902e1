package dev.larder.distributed.internal.meeting;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;

/**
 * Connects one process of each node: node 0 listens, and the others call it. All exchange their cards, and keep the connections. It is the
 * meeting of ranks by TCP, with nodes instead of ranks.
 */
public final class NodeMeeting implements AutoCloseable {
    private final Endpoint place;
    private final ServerSocket listener;

    private NodeMeeting(Endpoint place, ServerSocket listener) {
        this.place = place;
        this.listener = listener;
    }

    /** Returns the place at which the leaders of all nodes meet: MASTER_PORT, or the next port if torchrun's agent uses that one. */
    public static Endpoint place(Map<String, String> environment) {
        LaunchVariables variables = LaunchVariables.read(MeetingUrl.parse("env://"), environment);
        return new Endpoint(variables.masterAddress(), variables.leadersPort(environment));
    }

    /**
     * Meets the other nodes at a place. The caller owns the result.
     *
     * @throws LarderException DEADLINE with the missing nodes; REFUSED if the secret is absent or wrong, node 0 cannot listen, or another
     *     process has the number of this node; INTERRUPTED
     */
    public static NodeLinks meet(Endpoint place, RankSeat seat, Duration timeout) {
        place.requireSecret(seat.secret());
        if (seat.rank() > 0) {
            return MeetingGuest.meetNodes(place, seat, Deadline.after(timeout));
        }
        try (NodeMeeting meeting = listen(place, seat)) {
            return meeting.await(seat, timeout);
        }
    }

    /** Returns the address at which other nodes reach this one: at node 0 that of the meeting, else the one that faces node 0. */
    public static String ownAddress(Endpoint endpoint, int node) {
        if (node == 0) {
            return endpoint.ownAddress("env://");
        }
        InetAddress unknown = new InetSocketAddress(0).getAddress();
        InetAddress own = Endpoint.facing(endpoint.resolved("env://"), unknown);
        if (own.equals(unknown)) {
            throw Failure.of(ErrorCode.REFUSED, "no network leads to the place where the nodes meet")
                    .with("address", endpoint.text())
                    .remedy("let MASTER_ADDR be an address that all nodes reach");
        }
        return own.getHostAddress();
    }

    /** Listens as node 0 at a free port of an address; see {@link #port}. The caller closes it. */
    public static NodeMeeting listen(String address, RunSecret secret) {
        Endpoint endpoint = new Endpoint(address, 0);
        endpoint.requireSecret(secret);
        return listen(endpoint, new RankSeat(0, 2, "", secret, ""));
    }

    private static NodeMeeting listen(Endpoint endpoint, RankSeat seat) {
        try {
            return new NodeMeeting(endpoint, Acceptor.listen(endpoint, seat.secret()));
        } catch (BindException e) {
            throw endpoint.isHere()
                    ? MeetingHost.cannotListen(endpoint, seat, e)
                    : Failure.of(ErrorCode.REFUSED, "node 0 does not have the address where the nodes meet")
                            .with("address", endpoint.text())
                            .cause(e)
                            .remedy("let MASTER_ADDR be an address of the node with GROUP_RANK=0");
        } catch (IOException e) {
            throw cannotMeet(endpoint, e);
        }
    }

    private static LarderException cannotMeet(Endpoint endpoint, IOException reason) {
        return Failure.of(ErrorCode.UNEXPECTED, "the nodes cannot meet")
                .with("address", endpoint.text())
                .with("reason", reason)
                .cause(reason)
                .remedy("choose another port");
    }

    /** Returns the port of the listener. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Waits for all nodes, and stops listening. The caller owns the result. */
    public NodeLinks await(RankSeat seat, Duration timeout) {
        try (MeetingHost host = new MeetingHost(place, seat, Deadline.after(timeout), listener)) {
            return host.gatherNodes(seat.job());
        } catch (IOException e) {
            throw cannotMeet(place, e);
        }
    }

    /** Stops listening; the links of {@link #await} stay open. Idempotent. */
    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw cannotMeet(place, e);
        }
    }

    @Override
    public String toString() {
        return "NodeMeeting{" + place.text() + "}";
    }
}
