package dev.larder.loader.fanout;

/** The action of a {@link BatchPublisher} when all slots hold batches that a live consumer has not read. */
public enum SlowConsumer {
    /**
     * Waits until the publisher's timeout. Then, if other consumers make progress, the publisher drops the slow one and logs it; the next
     * step of that consumer fails with {@code REFUSED}. If no consumer makes progress, the publisher fails with {@code DEADLINE}. No
     * consumer misses a batch without an error.
     */
    BLOCK,

    /** Drops it after the publisher's patience; its next step fails with {@code REFUSED}. */
    DROP
}
