package dev.larder.loader.internal.sample;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntToLongFunction;

/** A list of rows. */
public final class ListedRows implements RowList {
    private final int size;
    private final IntToLongFunction rows;
    private final long end;

    private ListedRows(int size, IntToLongFunction rows, long end) {
        this.size = size;
        this.rows = rows;
        this.end = end;
    }

    /** Returns a list; the array is copied. */
    public static ListedRows of(long... rows) {
        long[] copy = rows.clone();
        for (int i = 0; i < copy.length; i++) {
            if (copy[i] < 0) {
                throw new IllegalArgumentException("row is negative: place=" + i + " row=" + copy[i]);
            }
        }
        long end = Arrays.stream(copy).max().orElse(-1) + 1;
        return new ListedRows(copy.length, i -> copy[i], end);
    }

    /** Returns a list that owns the array. */
    static ListedRows owning(int[] rows, long end) {
        return new ListedRows(rows.length, i -> rows[i], end);
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public long row(long place) {
        return rows.applyAsLong((int) Objects.checkIndex(place, (long) size));
    }

    @Override
    public long end() {
        return end;
    }

    @Override
    public String description() {
        return "rows(count=" + size + " crc32c=" + Fingerprint.of(size, rows) + ")";
    }

    @Override
    public String toString() {
        return description();
    }
}
