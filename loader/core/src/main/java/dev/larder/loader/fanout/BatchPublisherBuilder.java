package dev.larder.loader.fanout;

import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.loader.fanout.BatchPublisher.SlowConsumer;
import java.time.Duration;

/** Configures how a {@link BatchPublisher} shares its batches. */
public final class BatchPublisherBuilder {
    private final StoreLayout store;
    private final String name;
    private int slots = 8;
    private long slotBytes;
    private int seats = 8;
    private int consumers;
    private SlowConsumer slowConsumer = SlowConsumer.BLOCK;
    private Duration patience = Duration.ofSeconds(1);
    private Duration timeout = Duration.ofMinutes(5);

    BatchPublisherBuilder(StoreLayout store, String name) {
        this.store = store;
        this.name = name;
    }

    /** Sets how many batches the ring holds, 8 by default: so far may consumers be apart from one another. */
    public BatchPublisherBuilder slots(int count) {
        slots = (int) require(count, 2, RingGeometry.SLOT_COUNT_LIMIT, "slots");
        return this;
    }

    /**
     * Sets how many bytes a slot has, and so how large a batch may be; all of it is reserved when the ring is made. Without it
     * a batch may have 64 GiB divided by {@link #slots}, or four times the bytes of the first batch where that is more, but at most
     * 2 GiB: with up to 32 slots always 2 GiB. A slot then takes the memory of the largest batch that was in it, and up to a quarter
     * more. Consumers map all slots: up to 64 GiB of addresses, more only where four times the first batch in each slot takes more; most
     * of them have no memory behind. Set it where {@code ulimit -v} is low.
     */
    public BatchPublisherBuilder slotBytes(long bytes) {
        slotBytes = require(bytes, 1, RingGeometry.SLOT_LIMIT, "slot bytes");
        return this;
    }

    /** Sets how many consumers there can be at a time, 8 by default. The producer looks at each seat, taken or not. */
    public BatchPublisherBuilder seats(int count) {
        seats = (int) require(count, 1, RingDescriptor.SEAT_LIMIT, "seats");
        return this;
    }

    /**
     * Has the first batch wait until so many consumers are attached, so that none of them misses one; 0 by default. With 1 or more,
     * publishing fails with {@code REFUSED} if the last consumer dies; one that closes ends nothing.
     */
    public BatchPublisherBuilder consumers(int count) {
        consumers = (int) require(count, 0, RingDescriptor.SEAT_LIMIT, "consumers");
        return this;
    }

    /** Sets what happens to consumers that do not get on; {@link SlowConsumer#BLOCK} by default. */
    public BatchPublisherBuilder onSlowConsumer(SlowConsumer choice) {
        slowConsumer = choice;
        return this;
    }

    /** Sets how long a slow consumer is waited for before it is dropped, with {@link SlowConsumer#DROP}; 1 s by default. */
    public BatchPublisherBuilder patience(Duration beforeDropping) {
        patience = requirePositive(beforeDropping, "patience");
        return this;
    }

    /**
     * Sets how long one batch waits for consumers that are yet to come, and with {@link SlowConsumer#BLOCK} for those that are slow;
     * 5 min by default.
     */
    public BatchPublisherBuilder timeout(Duration perBatch) {
        timeout = requirePositive(perBatch, "timeout");
        return this;
    }

    static Duration requirePositive(Duration duration, String what) {
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(what + " must be positive: " + duration);
        }
        return duration;
    }

    private static long require(long value, long min, long max, String what) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be " + min + " to " + max + ": " + value);
        }
        return value;
    }

    /**
     * Claims the name, in files that go when the publisher is closed. The caller closes it.
     *
     * @throws dev.larder.error.LarderException REFUSED where another producer that lives has the name
     */
    public BatchPublisher open() {
        if (consumers > seats) {
            throw new IllegalArgumentException("more consumers than seats: consumers=" + consumers + " seats=" + seats);
        }
        Names.requireRing(name);
        Settings settings = new Settings(slots, slotBytes, consumers, slowConsumer, patience, timeout);
        Posix posix = Posix.system();
        return new BatchPublisher(posix, RingFolder.claim(posix, store, name, seats), settings);
    }

    /** What a publisher needs to know; {@code slotBytes} is 0 where slots grow. */
    record Settings(
            int slots, long slotBytes, int consumers, SlowConsumer slowConsumer, Duration patience, Duration timeout) {}
}
