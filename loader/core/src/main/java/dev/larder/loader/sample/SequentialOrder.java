package dev.larder.loader.sample;

import java.util.Objects;

/** The rows in the order of the array. */
record SequentialOrder(long length) implements SampleOrder {
    @Override
    public long row(long position) {
        return Objects.checkIndex(position, length);
    }
}
