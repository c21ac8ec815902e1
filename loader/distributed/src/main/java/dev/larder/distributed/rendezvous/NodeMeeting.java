package dev.larder.distributed.rendezvous;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.Map;

/**
 * Brings one process of each node together: node 0 listens, the others come to it. All hand out their cards, and keep the connections
 * for what they have to tell each other later. It is the meeting of ranks by TCP, with nodes in place of ranks.
 */
public final class NodeMeeting implements AutoCloseable {
    private final Endpoint place;
    private final ServerSocketChannel listener;

    private NodeMeeting(Endpoint place, ServerSocketChannel listener) {
        this.place = place;
        this.listener = listener;
    }

    /**
     * Where the leaders of all nodes of a run meet.
     *
     * @param host MASTER_ADDR
     * @param port MASTER_PORT, or the next one where torchrun's agent has that
     */
    public record Place(String host, int port) {
        /** Reads it from an environment. */
        public static Place of(Map<String, String> environment) {
            LaunchVariables variables = Rendezvous.variables(environment);
            return new Place(variables.masterAddress(), variables.leadersPort(environment));
        }
    }

    /**
     * Meets the other nodes at a place. The caller owns what it returns.
     *
     * @throws LarderException DEADLINE with the nodes that are missing; REFUSED where the secret is absent or another one, where node 0
     *     cannot listen, or a node is there already; INTERRUPTED
     */
    public static NodeLinks meet(Place place, NodeSeat seat, Duration timeout) {
        Endpoint endpoint = new Endpoint(place.host(), place.port());
        endpoint.requireSecret(seat.secret());
        if (seat.node() > 0) {
            return TcpClient.meetNodes(endpoint, seat.asRank(), Deadline.after(timeout));
        }
        try (NodeMeeting meeting = listen(endpoint, seat.asRank())) {
            return meeting.await(seat, timeout);
        }
    }

    /** Returns the address of this node that the others reach it at: that of the meeting at node 0, else the one that faces it. */
    public static String ownAddress(Place place, int node) {
        Endpoint endpoint = new Endpoint(place.host(), place.port());
        if (node == 0) {
            return endpoint.ownAddress("env://");
        }
        InetAddress unknown = new InetSocketAddress(0).getAddress();
        InetAddress own = Endpoint.facing(endpoint.resolved("env://"), unknown);
        if (own.equals(unknown)) {
            throw Failure.of(ErrorCode.REFUSED, "no network leads to where the nodes meet")
                    .with("address", endpoint.text())
                    .remedy("let MASTER_ADDR be an address that all nodes reach");
        }
        return own.getHostAddress();
    }

    /** Listens as node 0 at a free port of an address, which {@link #port} then tells. The caller closes it. */
    public static NodeMeeting listen(String address, RunSecret secret) {
        Endpoint endpoint = new Endpoint(address, 0);
        endpoint.requireSecret(secret);
        return listen(endpoint, new RankSeat(0, 2, "", secret, ""));
    }

    private static NodeMeeting listen(Endpoint endpoint, RankSeat seat) {
        try {
            return new NodeMeeting(endpoint, TcpHost.listen(endpoint, seat.secret()));
        } catch (BindException e) {
            throw endpoint.isHere()
                    ? TcpHost.cannotListen(endpoint, seat, e)
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

    /** Returns where it listens. */
    public int port() {
        return listener.socket().getLocalPort();
    }

    /** Waits for all nodes, and stops to listen then. The caller owns what it returns. */
    public NodeLinks await(NodeSeat seat, Duration timeout) {
        RankSeat rank = seat.asRank();
        try (TcpHost host = new TcpHost(place, rank, Deadline.after(timeout), listener)) {
            return host.gatherNodes(rank.job());
        } catch (IOException e) {
            throw cannotMeet(place, e);
        }
    }

    /** Stops to listen; what {@link #await} returned stays. Idempotent. */
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
