package dev.larder.loader.internal.sample;

import java.util.Objects;

/** Consecutive rows. */
public record RangeRows(long first, long size) implements RowList {
    /** Checks the range. */
    public RangeRows {
        if (first < 0 || size < 0 || first + size < 0) {
            throw new IllegalArgumentException("range must lie at or above 0: first=" + first + " count=" + size);
        }
    }

    @Override
    public long row(long place) {
        return first + Objects.checkIndex(place, size);
    }

    @Override
    public long end() {
        return first + size;
    }

    @Override
    public String description() {
        return "range(first=" + first + " count=" + size + ")";
    }
}
