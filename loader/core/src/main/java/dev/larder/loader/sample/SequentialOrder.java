package dev.larder.loader.sample;

import java.util.Objects;

/** Visits rows as they lie. */
record SequentialOrder(long length) implements SampleOrder {
    @Override
    public void copyTo(long first, int count, long[] target) {
        Objects.checkFromIndexSize(first, count, length);
        for (int i = 0; i < count; i++) {
            target[i] = first + i;
        }
    }
}
