package dev.larder.loader.sample;

import java.util.Objects;

/** Visits rows as they lie. */
record SequentialOrder(long length) implements SampleOrder {
    @Override
    public long row(long position) {
        return Objects.checkIndex(position, length);
    }
}
