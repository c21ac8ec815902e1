package dev.larder.loader.fanout;

/** What a {@link BatchPublisher} does about a live consumer that is too slow, once all slots hold batches it has not read. */
public enum SlowConsumer {
    /**
     * Waits for it until the publisher's timeout has passed. Then, where other consumers get on, it goes on without the slow one,
     * says so in the log, and that one's next step fails with {@code REFUSED}; where none gets on, it fails with {@code DEADLINE}.
     * Nobody misses a batch unsaid.
     */
    BLOCK,

    /** Goes on without it once the publisher's patience is over; its next step fails with {@code REFUSED}. */
    DROP
}
