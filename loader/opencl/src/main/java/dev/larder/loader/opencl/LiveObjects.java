package dev.larder.loader.opencl;

import static java.util.Objects.requireNonNull;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Counts the OpenCL objects that this package has created or retained and not yet released, in the whole process. */
public final class LiveObjects {
    private static final Map<Kind, AtomicInteger> COUNTS =
            Map.copyOf(Stream.of(Kind.values()).collect(Collectors.toMap(kind -> kind, kind -> new AtomicInteger())));

    private LiveObjects() {}

    /** The kinds of objects that are counted. */
    public enum Kind {
        CONTEXT,
        QUEUE,
        MEMORY,
        MAPPING,
        PROGRAM,
        KERNEL,
        EVENT
    }

    /** Returns the number of live objects by kind; empty if everything is closed. */
    public static Map<Kind, Integer> count() {
        Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
        COUNTS.forEach((kind, count) -> {
            if (count.get() != 0) {
                counts.put(kind, count.get());
            }
        });
        return counts;
    }

    static void added(Kind kind) {
        counter(kind).incrementAndGet();
    }

    static void removed(Kind kind) {
        counter(kind).decrementAndGet();
    }

    private static AtomicInteger counter(Kind kind) {
        return requireNonNull(COUNTS.get(kind));
    }
}
