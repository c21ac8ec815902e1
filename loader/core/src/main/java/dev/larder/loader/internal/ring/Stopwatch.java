package dev.larder.loader.internal.ring;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/** Adds up where the time of one thread goes. That thread alone writes, any may read. */
public final class Stopwatch {
    /** What a thread's time goes to. */
    public enum Part {
        PLANNING,
        GATHERING,
        TRANSFORMING,
        /** The consumer waits for a batch. */
        WAITING_FOR_BATCH,
        /** A gather thread waits for the consumer to give a slot back. */
        WAITING_FOR_CONSUMER
    }

    private final Map<Part, AtomicLong> nanos = new EnumMap<>(Part.class);

    Stopwatch() {
        for (Part part : Part.values()) {
            nanos.put(part, new AtomicLong());
        }
    }

    void add(Part part, long nanoseconds) {
        AtomicLong sum = of(part);
        sum.setRelease(sum.getPlain() + nanoseconds);
    }

    public long nanos(Part part) {
        return of(part).getAcquire();
    }

    private AtomicLong of(Part part) {
        return Objects.requireNonNull(nanos.get(part));
    }
}
