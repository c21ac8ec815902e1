package dev.larder.internal.layout;

/** The parts of the work of a loader's threads. */
public enum WorkPart {
    /** The consumer waits for the order or the first batch of an epoch. */
    STARTING(0),
    /** A thread looks up the rows of a batch. */
    PLANNING(1),
    /** A thread waits for rows from a disk. */
    READING(2),
    GATHERING(3),
    USER_CODE(4),
    DECODING(5),
    TRANSFORMING(6),
    /** The consumer, or the thread that uploads, waits for a batch. */
    WAITING_FOR_BATCH(7),
    /** A gather thread waits until the consumer returns a slot. */
    WAITING_FOR_CONSUMER(8);

    /** The number of parts. */
    public static final int COUNT = values().length;

    private final int index;

    WorkPart(int index) {
        this.index = index;
    }

    /** Returns its place among the counters of a row in {@link LoaderDescriptor}. */
    public int index() {
        return index;
    }
}
