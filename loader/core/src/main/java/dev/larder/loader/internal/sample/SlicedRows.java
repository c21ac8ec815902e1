package dev.larder.loader.internal.sample;

import java.util.Objects;

/** Consecutive places of another list. */
record SlicedRows(RowList whole, long first, long size) implements RowList {
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
