package dev.larder.gloo;

import dev.larder.distributed.transport.GroupTransport;
import dev.larder.distributed.transport.NodeTransport;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.List;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.GlooDeviceVector;
import org.bytedeco.pytorch.ProcessGroupGloo;
import org.bytedeco.pytorch.TCPStore;
import org.bytedeco.pytorch.TCPStoreOptions;
import org.jspecify.annotations.Nullable;

/**
 * Connects nodes by Gloo over TCP. Node 0 has the store where the others find each other, at a free port. Neither is encrypted, nor does
 * it ask who connects: it is for networks that only the run's nodes reach. Thread-safe.
 */
public final class GlooTransport implements GroupTransport {
    /** Waits have the group's deadline, which is found out before this one. */
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
        try {
            GlooLibraries.load(seat.timeout());
            return new GlooOpening(seat, seat.node() == 0 ? store(seat.host(), 0, true, seat) : null);
        } catch (LinkageError e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "the libraries of Gloo cannot be loaded")
                    .with("reason", e.getMessage())
                    .cause(e)
                    .remedy("put the jars of org.bytedeco pytorch, javacpp and openblas, for this platform too, on the"
                            + " class path; they unpack to 450 MB in ~/.javacpp (org.bytedeco.javacpp.cachedir"
                            + " names another place)");
        }
    }

    private static TCPStore store(String host, int port, boolean isServer, Seat seat) {
        try (TCPStoreOptions options = new TCPStoreOptions()
                .port((short) port)
                .isServer(isServer)
                .waitWorkers(false)
                .timeout(new Milliseconds(seat.timeout().toMillis()))) {
            return new TCPStore(host, options);
        }
    }

    /** A node that has not connected yet; node 0 with the store. */
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
            store = null; // the connection's from here on
            if (own == null) {
                String first = addresses.get(0);
                int slash = first.lastIndexOf('/');
                own = store(first.substring(0, slash), Integer.parseInt(first.substring(slash + 1)), false, seat);
            }
            ProcessGroupGloo.Options options = ProcessGroupGloo.Options.create(new Milliseconds(LONGEST_WAIT_MS));
            options.devices(new GlooDeviceVector(ProcessGroupGloo.createDeviceForHostname(seat.host())));
            ProcessGroupGloo group = new ProcessGroupGloo(own, seat.node(), seat.nodes(), options);
            return new GlooConnection(group, own, seat.node(), seat.nodes());
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
