package dev.larder.loader.internal.ring;

import dev.larder.loader.internal.field.FieldReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The scratch memory of one thread for each field, and its stopwatch. */
final class Workspace {
    private final @Nullable Object[] scratch;
    private final Stopwatch stopwatch;

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
}
