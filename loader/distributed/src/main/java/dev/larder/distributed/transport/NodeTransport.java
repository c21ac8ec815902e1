package dev.larder.distributed.transport;

/**
 * The connections of one process to one of every other node. Used by one thread at a time, but {@link #close} may come from another, and
 * ends a wait.
 */
public interface NodeTransport extends AutoCloseable {
    /**
     * Begins to send each node some bytes and to take some of each. All nodes begin the same transfers in the same order, and each
     * takes as many bytes of another as that sends it; several transfers may be under way. Memory that takes part belongs to the
     * transfer until {@link Transfer#await} has returned true, or this is closed.
     */
    Transfer begin(Parts sent, Parts received);

    /** Returns how many bytes of transfers went to other nodes since they were connected. */
    long sentByteCount();

    /**
     * Ends the connections and what goes on. Idempotent. When it returns, nothing writes into memory of a transfer any more.
     */
    @Override
    void close();

    /** Bytes outside the heap, a part for each node: none at first. That of the node itself is nobody's. Of one thread. */
    final class Parts {
        private final long address;
        private final long[] offsets;
        private final long[] byteSizes;

        /** Describes parts for so many nodes that count their offsets from an address. */
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

        /** Returns where the part of a node begins. */
        public long address(int node) {
            return address + offsets[node];
        }

        /** Returns how many bytes the part of a node has; 0 where there is none. */
        public long byteSize(int node) {
            return byteSizes[node];
        }
    }

    /** One transfer that goes on. */
    interface Transfer {
        /**
         * Waits until all bytes were sent and taken; false where time was up before.
         *
         * @throws TransferException where another node cannot be reached any more
         */
        boolean await(long timeoutNs);

        /** Returns the first node whose bytes have not all come, or gone; -1 where there is none. */
        int missingNode();
    }

    /** A transfer that cannot go on. */
    final class TransferException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final int node;

        /** Describes one of a node; -1 where it is not known which. */
        public TransferException(int node, String reason, Throwable cause) {
            super(reason, cause);
            this.node = node;
        }

        /** Returns which node cannot be reached; -1 where that is not known. */
        public int node() {
            return node;
        }
    }
}
