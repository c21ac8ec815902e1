package dev.larder.loader.internal.sample;

/** Places of another subset. */
public record NestedRows(RowList inner, RowList outer) implements RowList {
    /** Checks that all places exist. */
    public NestedRows {
        Requirements.rows(inner, outer.size());
    }

    @Override
    public long size() {
        return inner.size();
    }

    @Override
    public long row(long place) {
        return outer.row(inner.row(place));
    }

    @Override
    public long end() {
        return outer.end();
    }

    @Override
    public String description() {
        return inner.description() + " within " + outer.description();
    }
}
