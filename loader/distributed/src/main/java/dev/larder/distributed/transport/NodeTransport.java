package dev.larder.distributed.transport;

/**
 * The connections of one process to one process of every other node. For one thread at a time, except {@link #close}, which ends a wait.
 */
public interface NodeTransport extends AutoCloseable {
    /**
     * Begins to send bytes to each node and to receive bytes from each. All nodes begin the same transfers in the same order, and the sizes
     * of both sides match; several transfers may be in progress. The memory belongs to the transfer until {@link Transfer#await} has
     * returned true, or this is closed.
     */
    Transfer begin(Parts sent, Parts received);

    /** Returns the bytes of transfers to other nodes since the connection. */
    long sentByteCount();

    /** Ends the connections and all transfers. Idempotent. After it returns, no transfer writes into memory. */
    @Override
    void close();

    /** Bytes outside the heap, a part for each node; all are empty at first. The part of this node itself is unused. Not thread-safe. */
    final class Parts {
        private final long address;
        private final long[] offsets;
        private final long[] byteSizes;

        /** Describes parts for the nodes, with offsets from an address. */
        public Parts(long address, int nodes) {
            this.address = address;
            this.offsets = new long[nodes];
            this.byteSizes = new long[nodes];
        }

        /** Sets the part of a node. */
        public void set(int node, long offset, long byteSize) {
            offsets[node] = offset;
            byteSizes[node] = byteSize;
        }

        /** Returns the address of the part of a node. */
        public long address(int node) {
            return address + offsets[node];
        }

        /** Returns the bytes of the part of a node; 0 if it is empty. */
        public long byteSize(int node) {
            return byteSizes[node];
        }
    }

    /** A transfer in progress. */
    interface Transfer {
        /**
         * Waits until all bytes are sent and received; false after the timeout.
         *
         * @throws TransferException if a node cannot be reached any more
         */
        boolean await(long timeoutNs);

        /** Returns the first node with unfinished bytes; -1 if there is none. */
        int missingNode();
    }

    /** A transfer that cannot continue. */
    final class TransferException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final int node;

        /** Describes the failure of a node; -1 if it is unknown. */
        public TransferException(int node, String reason, Throwable cause) {
            super(reason, cause);
            this.node = node;
        }

        /** Returns the node that cannot be reached; -1 if it is unknown. */
        public int node() {
            return node;
        }
    }
}
