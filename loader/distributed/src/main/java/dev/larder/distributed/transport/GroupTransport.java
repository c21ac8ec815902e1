package dev.larder.distributed.transport;

import java.time.Duration;
import java.util.List;

/**
 * Connects one process of each node with those of all others. Implementations are found by {@link java.util.ServiceLoader}; a process
 * group that spans nodes needs one on the class path. They move bytes and know nothing of what is in them: which elements are summed in
 * which order is the group's. Thread-safe.
 */
public interface GroupTransport {
    /** Returns its name, one word; all nodes of a group use the same. */
    String name();

    /**
     * Begins to connect: prepares what the other nodes have to find. The caller closes it where it does not connect.
     *
     * @param seat which node this is
     */
    Opening open(Seat seat);

    /**
     * Says which of the nodes this process stands for.
     *
     * @param node from 0
     * @param nodes how many there are
     * @param host the address at which the other nodes reach this one
     * @param timeout in which the nodes have to be connected, and in which what was sent has to arrive
     */
    record Seat(int node, int nodes, String host, Duration timeout) {}

    /** A node that others can find, and that is not connected yet. */
    interface Opening extends AutoCloseable {
        /** Returns what all nodes have to know of this one: a text without white space, of at most 100 bytes. */
        String address();

        /**
         * Connects to all other nodes. The caller owns the result; this is closed then, or when it fails.
         *
         * @param addresses of all nodes, in their order
         * @throws dev.larder.error.LarderException where a node cannot be reached in time
         */
        NodeTransport connect(List<String> addresses);

        /** Gives up what was prepared. Idempotent; does nothing once it is connected. */
        @Override
        void close();
    }
}
