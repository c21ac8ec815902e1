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

    /** Sets how many batches the ring holds, 8 by default: the most batches between the fastest and the slowest consumer. */
    public BatchPublisherBuilder slots(int count) {
        slots = (int) require(count, 2, RingGeometry.SLOT_COUNT_LIMIT, "slots");
        return this;
    }

    /**
     * Sets the bytes of a slot, the largest size of a batch; all slots are reserved when the ring is created. By default, a batch may
     * have 64 GiB divided by {@link #slots}, or four times the bytes of the first batch if that is more, but at most 2 GiB: with up to
     * 32 slots always 2 GiB. Then a slot takes the memory of the largest batch that was in it, plus up to a quarter. Consumers map all
     * slots: up to 64 GiB of addresses, or more for large first batches; most of them take no memory. Set it if {@code ulimit -v} is low.
     */
    public BatchPublisherBuilder slotBytes(long bytes) {
        slotBytes = require(bytes, 1, RingGeometry.SLOT_LIMIT, "slot bytes");
        return this;
    }

    /** Sets the most consumers at a time, 8 by default. The producer checks each seat, even free ones. */
    public BatchPublisherBuilder seats(int count) {
        seats = (int) require(count, 1, RingDescriptor.SEAT_LIMIT, "seats");
        return this;
    }

    /**
     * Delays the first batch until this many consumers are attached, so that they miss no batch; 0 by default. With 1 or more,
     * publishing fails with {@code REFUSED} if the last consumer dies, but not if it closes.
     */
    public BatchPublisherBuilder consumers(int count) {
        consumers = (int) require(count, 0, RingDescriptor.SEAT_LIMIT, "consumers");
        return this;
    }

    /** Sets the action for consumers that make no progress; {@link SlowConsumer#BLOCK} by default. */
    public BatchPublisherBuilder onSlowConsumer(SlowConsumer choice) {
        slowConsumer = choice;
        return this;
    }

    /** Sets the wait for a slow consumer before it is dropped, with {@link SlowConsumer#DROP}; 1 s by default. */
    public BatchPublisherBuilder patience(Duration beforeDropping) {
        patience = requirePositive(beforeDropping, "patience");
        return this;
    }

    /**
     * Sets the time limit for one batch to wait for consumers to attach, and, with {@link SlowConsumer#BLOCK}, for slow ones; 5 min by
     * default.
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
     * Claims the name. The caller closes the publisher, which removes its files.
     *
     * @throws dev.larder.error.LarderException REFUSED if another live producer has the name
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

    /** The settings of a publisher; {@code slotBytes} is 0 if slots grow. */
    record Settings(
            int slots, long slotBytes, int consumers, SlowConsumer slowConsumer, Duration patience, Duration timeout) {}
}
