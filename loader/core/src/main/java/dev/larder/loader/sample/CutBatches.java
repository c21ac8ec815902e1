package dev.larder.loader.sample;

import java.util.Objects;

/** Batches as lists of rows. */
final class CutBatches implements BatchOrder {
    private final int[] rows;
    private final int[] starts;

    private CutBatches(int[] rows, int[] starts) {
        this.rows = rows;
        this.starts = starts;
    }

    /** Returns adjacent batches in an order. */
    static CutBatches of(int[] rows, int[] starts, SampleOrder order) {
        int[] ordered = new int[rows.length];
        int[] orderedStarts = new int[starts.length];
        for (int batch = 0; batch < order.length(); batch++) {
            int from = (int) order.row(batch);
            int size = starts[from + 1] - starts[from];
            System.arraycopy(rows, starts[from], ordered, orderedStarts[batch], size);
            orderedStarts[batch + 1] = orderedStarts[batch] + size;
        }
        return new CutBatches(ordered, orderedStarts);
    }

    @Override
    public long batches() {
        return starts.length - 1L;
    }

    @Override
    public long first(long batch) {
        return starts[(int) Objects.checkIndex(batch, (long) starts.length)];
    }

    @Override
    public long row(long position) {
        return rows[(int) Objects.checkIndex(position, (long) rows.length)];
    }
}
