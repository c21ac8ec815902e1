package dev.larder.loader.sample;

/** Some places of another subset. */
record NestedRows(Subset inner, Subset outer) implements Subset {
    NestedRows {
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
