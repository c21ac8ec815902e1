package dev.larder.gloo;

import dev.larder.distributed.transport.GroupTransport;
import dev.larder.distributed.transport.NodeTransport;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.GlooDeviceVector;
import org.bytedeco.pytorch.ProcessGroupGloo;
import org.bytedeco.pytorch.TCPStore;
import org.bytedeco.pytorch.TCPStoreOptions;
import org.jspecify.annotations.Nullable;

/**
 * Connects nodes with Gloo over TCP. Node 0 runs the store through which nodes find each other, on a free port. Neither is encrypted or
 * authenticated: use it only in networks that no other machines can reach. Thread-safe.
 */
public final class GlooTransport implements GroupTransport {
    /** The timeout of native waits. The group's shorter deadline applies first. */
    private static final long LONGEST_WAIT_MS = 86_400_000;

    private static final int PORT_MASK = 0xffff;

    /** For the ServiceLoader. */
    public GlooTransport() {}

    @Override
    public String name() {
        return "gloo";
    }

    @Override
    public Opening open(Seat seat) {
        if (seat.node() == 0) {
            requireOwn(seat.host());
        }
        try {
            GlooLibraries.load(seat.timeout());
            return new GlooOpening(seat, seat.node() == 0 ? store(seat.host(), 0, true, seat) : null);
        } catch (LinkageError e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "the libraries of Gloo cannot be loaded")
                    .with("reason", e)
                    .cause(e)
                    .remedy("put the jars of org.bytedeco pytorch, javacpp and openblas, for this platform too, on the"
                            + " class path; they unpack to 450 MB in ~/.javacpp (org.bytedeco.javacpp.cachedir"
                            + " names another place)");
        }
    }

    /** Fails immediately; Gloo would try for twice the deadline to reach its own store. */
    private static void requireOwn(String host) {
        try {
            new ServerSocket(0, 1, InetAddress.getByName(host)).close();
        } catch (IOException e) {
            throw Failure.of(ErrorCode.REFUSED, "node 0 does not have the address where Gloo's nodes find each other")
                    .with("address", host)
                    .with("reason", e)
                    .cause(e)
                    .remedy("let MASTER_ADDR be an address of the node with GROUP_RANK=0");
        }
    }

    private static LarderException unreachable(String what, String address, Seat seat, RuntimeException reason) {
        return Failure.of(ErrorCode.UNEXPECTED, what)
                .with("address", address)
                .with("node", seat.node())
                .with("reason", GlooConnection.firstLine(reason)) // native frames follow
                .cause(reason)
                .remedy("check the network between the nodes, and that no firewall is in the way");
    }

    private static TCPStore store(String host, int port, boolean isServer, Seat seat) {
        try (TCPStoreOptions options = new TCPStoreOptions()
                .port((short) port)
                .isServer(isServer)
                .waitWorkers(false)
                .timeout(new Milliseconds(seat.timeout().toMillis()))) {
            return new TCPStore(host, options);
        } catch (RuntimeException e) {
            throw unreachable("Gloo's store at node 0 cannot be reached", host + ":" + port, seat, e);
        }
    }

    /** A node that has not connected yet. Node 0 owns the store. */
    private static final class GlooOpening implements Opening {
        private final Seat seat;
        private @Nullable TCPStore store;

        private GlooOpening(Seat seat, @Nullable TCPStore store) {
            this.seat = seat;
            this.store = store;
        }

        @Override
        public String address() {
            TCPStore own = store;
            return own == null ? seat.host() : seat.host() + "/" + (own.getPort() & PORT_MASK);
        }

        @Override
        public NodeTransport connect(List<String> addresses) {
            TCPStore own = store;
            store = null; // the connection owns it from here on
            if (own == null) {
                String first = addresses.get(0);
                int slash = first.lastIndexOf('/');
                own = store(first.substring(0, slash), Integer.parseInt(first.substring(slash + 1)), false, seat);
            }
            ProcessGroupGloo.Options options = ProcessGroupGloo.Options.create(new Milliseconds(LONGEST_WAIT_MS));
            options.devices(new GlooDeviceVector(ProcessGroupGloo.createDeviceForHostname(seat.host())));
            try {
                ProcessGroupGloo group = new ProcessGroupGloo(own, seat.node(), seat.nodes(), options);
                return new GlooConnection(group, own, seat.node(), seat.nodes());
            } catch (RuntimeException e) {
                own.close();
                throw unreachable("Gloo cannot connect all nodes", String.join(",", addresses), seat, e);
            }
        }

        @Override
        public void close() {
            TCPStore own = store;
            store = null;
            if (own != null) {
                own.close();
            }
        }
    }
}
