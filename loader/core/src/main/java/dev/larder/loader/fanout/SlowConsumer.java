package dev.larder.loader.fanout;

/** What a {@link BatchPublisher} does about a consumer that lives but does not get on, once all slots hold what it has not read. */
public enum SlowConsumer {
    /** Waits for it, and fails with {@code DEADLINE} when the publisher's timeout has passed: every consumer sees every batch. */
    BLOCK,

    /** Goes on without it once the publisher's patience is over; its next step fails with {@code REFUSED}. */
    DROP
}
