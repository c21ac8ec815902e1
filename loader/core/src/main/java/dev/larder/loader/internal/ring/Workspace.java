package dev.larder.loader.internal.ring;

import dev.larder.internal.posix.ThreadUsage;
import dev.larder.loader.internal.field.FieldReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The scratch memory of one thread for each field, its stopwatch, and its faults. */
final class Workspace {
    private final @Nullable Object[] scratch;
    private final Stopwatch stopwatch;
    private final ThreadUsage usage = new ThreadUsage();
    private long faults = Long.MAX_VALUE;

    Workspace(List<FieldReader> fields, Stopwatch stopwatch) {
        this.scratch = fields.stream().map(FieldReader::newScratch).toArray();
        this.stopwatch = stopwatch;
    }

    @Nullable
    Object scratch(int field) {
        return scratch[field];
    }

    Stopwatch stopwatch() {
        return stopwatch;
    }

    /** Returns whether memory that this thread read was fetched from a disk since the last call. */
    boolean hasFaulted() {
        long before = faults;
        usage.update();
        faults = usage.majorFaults();
        return faults > before;
    }
}
