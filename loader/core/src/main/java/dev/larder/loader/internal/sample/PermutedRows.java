package dev.larder.loader.internal.sample;

/** All rows, in a random order that takes no memory. */
record PermutedRows(Permutation permutation, long seed) implements RowList {
    static PermutedRows of(long rows, long seed) {
        return new PermutedRows(Permutation.of(rows, seed, 0, Draws.SPLIT), seed);
    }

    @Override
    public long size() {
        return permutation.length();
    }

    @Override
    public long row(long place) {
        return permutation.at(place);
    }

    @Override
    public long end() {
        return size();
    }

    @Override
    public String description() {
        return "permuted(rows=" + size() + " seed=" + seed + ")";
    }
}
