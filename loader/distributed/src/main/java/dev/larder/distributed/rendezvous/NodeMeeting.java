package dev.larder.distributed.rendezvous;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import java.util.Map;

/**
 * Brings one process of each node together: node 0 listens, the others come to it. All hand out their cards, and keep the connections
 * for what they have to tell each other later. It is the meeting of ranks by TCP, with nodes in place of ranks.
 */
public final class NodeMeeting implements AutoCloseable {
    private final TcpEndpoint place;
    private final RankSeat seat;
    private final Deadline deadline;
    private final TcpHost host;

    private NodeMeeting(TcpEndpoint place, RankSeat seat, Deadline deadline, TcpHost host) {
        this.place = place;
        this.seat = seat;
        this.deadline = deadline;
        this.host = host;
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
        TcpEndpoint endpoint = TcpEndpoint.anywhere(place.host(), place.port(), "env://");
        endpoint.requireSecret(seat.secret());
        if (seat.node() > 0) {
            return TcpClient.meetNodes(endpoint, seat.asRank(), Deadline.after(timeout));
        }
        try (NodeMeeting meeting = listen(endpoint, seat, timeout)) {
            return meeting.await();
        }
    }

    /** Listens as node 0 at a free port of an address, which {@link #port} then tells. The caller closes it. */
    public static NodeMeeting listen(String address, NodeSeat seat, Duration timeout) {
        TcpEndpoint endpoint = TcpEndpoint.anywhere(address, 0, "tcp://" + address);
        endpoint.requireSecret(seat.secret());
        return listen(endpoint, seat, timeout);
    }

    private static NodeMeeting listen(TcpEndpoint endpoint, NodeSeat seat, Duration timeout) {
        RankSeat rank = seat.asRank();
        Deadline deadline = Deadline.after(timeout);
        try {
            return new NodeMeeting(endpoint, rank, deadline, new TcpHost(endpoint, rank, deadline));
        } catch (BindException e) {
            throw endpoint.isHere()
                    ? TcpHost.cannotListen(endpoint, rank, e)
                    : Failure.of(ErrorCode.REFUSED, "node 0 does not have the address where the nodes meet")
                            .with("address", endpoint.text())
                            .cause(e)
                            .remedy("let MASTER_ADDR be an address of the node with GROUP_RANK=0");
        } catch (IOException e) {
            throw cannotMeet(endpoint, e);
        }
    }

    private static LarderException cannotMeet(TcpEndpoint endpoint, IOException reason) {
        return Failure.of(ErrorCode.UNEXPECTED, "the nodes cannot meet")
                .with("address", endpoint.text())
                .with("reason", reason.getMessage())
                .cause(reason)
                .remedy("choose another port");
    }

    /** Returns where it listens. */
    public int port() {
        return host.port();
    }

    /** Waits for all nodes. The caller owns what it returns. */
    public NodeLinks await() {
        try {
            return host.gatherNodes(seat.job());
        } catch (IOException e) {
            throw cannotMeet(place, e);
        }
    }

    /** Stops to listen; what {@link #await} returned stays. */
    @Override
    public void close() {
        try {
            host.close();
        } catch (IOException e) {
            throw cannotMeet(place, e);
        }
    }

    @Override
    public String toString() {
        return "NodeMeeting{" + place.text() + " " + deadline.remaining() + "}";
    }
}
