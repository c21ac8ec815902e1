package dev.larder.distributed.transport;

import java.time.Duration;
import java.util.List;

/**
 * Connects one process of each node with those of all others. {@link java.util.ServiceLoader} finds implementations; a process group that
 * spans nodes needs one on the class path. A transport moves bytes; the group does the sums. Thread-safe.
 */
public interface GroupTransport {
    /** Returns its name, one word; all nodes of a group use the same. */
    String name();

    /**
     * Prepares a connection, so that the other nodes can find this one. The caller closes it if it does not connect.
     *
     * @param seat of this node
     */
    Opening open(Seat seat);

    /**
     * The place of this node among all.
     *
     * @param node its number, from 0
     * @param nodes the number of nodes
     * @param host the address at which the other nodes reach this one
     * @param timeout of the connection, and of a transfer
     */
    record Seat(int node, int nodes, String host, Duration timeout) {}

    /** A node that others can find, and that is not connected yet. */
    interface Opening extends AutoCloseable {
        /** Returns the address of this node for all others: a text without white space, of at most 100 bytes. */
        String address();

        /**
         * Connects to all other nodes. The caller owns the result. Closes this, even if it fails.
         *
         * @param addresses of all nodes, in their order
         * @throws dev.larder.error.LarderException if a node cannot be reached in time
         */
        NodeTransport connect(List<String> addresses);

        /** Gives up the preparation. Idempotent; does nothing after connecting. */
        @Override
        void close();
    }
}
