package dev.larder.internal.layout;

/** The parts of the work of a loader's threads, in the order of their counters in {@link LoaderDescriptor}. */
public enum WorkPart {
    /** The consumer waits for the order or the first batch of an epoch. */
    STARTING,
    /** A thread looks up the rows of a batch. */
    PLANNING,
    /** A thread waits for rows from a disk. */
    READING,
    GATHERING,
    USER_CODE,
    DECODING,
    TRANSFORMING,
    /** The consumer, or the thread that uploads, waits for a batch. */
    WAITING_FOR_BATCH,
    /** A gather thread waits until the consumer returns a slot. */
    WAITING_FOR_CONSUMER;

    /** The number of parts. */
    public static final int COUNT = values().length;
}
