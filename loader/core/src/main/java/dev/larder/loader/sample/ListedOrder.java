package dev.larder.loader.sample;

/** An order as a list of rows. Owns the array. */
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
