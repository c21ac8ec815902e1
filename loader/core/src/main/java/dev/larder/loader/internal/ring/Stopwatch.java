package dev.larder.loader.internal.ring;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/** Sums the times of the parts of a thread's work. Only that thread writes; any thread may read. */
public final class Stopwatch {
    /** The parts of a thread's work. */
    public enum Part {
        PLANNING,
        GATHERING,
        TRANSFORMING,
        /** The consumer waits for a batch. */
        WAITING_FOR_BATCH,
        /** A gather thread waits until the consumer returns a slot. */
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
