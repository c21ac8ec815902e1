package dev.larder.server.source;

import java.util.function.LongConsumer;

/** Data that a program of its own writes to a file before it can be copied, together with all other data of its source. */
public interface DeliveredData extends ArrayData {
    /**
     * Has the data written, where that has not been done, and returns the {@code .npy} file with it: of this user, writable, its data where
     * the header of a stored array ends.
     *
     * @param beforeWriting told how many bytes all data of the source takes, before they are written
     * @param onBytes told of every step
     */
    SourceIdentity deliver(LongConsumer beforeWriting, LongConsumer onBytes);
}
