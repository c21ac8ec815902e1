package dev.larder.loader.internal.sample;

import java.util.Objects;

/** Another list without some consecutive places. */
record SplicedRows(RowList whole, long first, long without) implements RowList {
    SplicedRows {
        Objects.checkFromIndexSize(first, without, whole.size());
    }

    @Override
    public long size() {
        return whole.size() - without;
    }

    @Override
    public long row(long place) {
        Objects.checkIndex(place, size());
        return whole.row(place < first ? place : place + without);
    }

    @Override
    public long end() {
        return whole.end();
    }

    @Override
    public String description() {
        return whole.description() + "[:" + first + ", " + (first + without) + ":]";
    }
}
