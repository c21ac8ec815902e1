package dev.larder.loader.sample;

import java.util.Objects;

/** Consecutive places of another subset. */
record SlicedRows(Subset whole, long first, long size) implements Subset {
    SlicedRows {
        Objects.checkFromIndexSize(first, size, whole.size());
    }

    @Override
    public long row(long place) {
        return whole.row(first + Objects.checkIndex(place, size));
    }

    @Override
    public long end() {
        return whole.end();
    }

    @Override
    public String description() {
        return whole.description() + "[" + first + ":" + (first + size) + "]";
    }
}
