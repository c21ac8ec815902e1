package dev.larder.loader.sample;

/** An order that is listed row by row. The array is nobody else's. */
final class ListedOrder implements SampleOrder {
    private final int[] rows;

    ListedOrder(int[] rows) {
        this.rows = rows;
    }

    @Override
    public long length() {
        return rows.length;
    }

    @Override
    public long row(long position) {
        return rows[Math.toIntExact(position)];
    }
}
