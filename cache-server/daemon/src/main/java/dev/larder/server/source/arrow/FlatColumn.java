package dev.larder.server.source.arrow;

/** Rows of one shape, as one array. */
final class FlatColumn extends ArrowColumn {
    private final String name;
    private final Nulls nulls;
    private final int[] listSizes;
    private final long[] rowShape;
    private final Elements elements;
    private long rows;

    /**
     * Starts without rows.
     *
     * @param listSizes of lists of fixed size within each other, the outer one first
     * @param rowShape the dimensions of a row
     */
    FlatColumn(String name, Nulls nulls, int[] listSizes, long[] rowShape, Elements elements) {
        this.name = name;
        this.nulls = nulls;
        this.listSizes = listSizes;
        this.rowShape = rowShape;
        this.elements = elements;
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        nulls.take(batch, from, to);
        long each = 1;
        for (int size : listSizes) {
            each = Math.multiplyExact(each, size);
            nulls.requireNoneElsewhere(batch, from, to, each, name);
        }
        elements.take(batch, Math.multiplyExact(from, each), Math.multiplyExact(to, each));
        rows = Math.addExact(rows, to - from);
    }

    @Override
    void addArrays(FoundArrays arrays) {
        long[] shape = new long[rowShape.length + 1];
        shape[0] = rows;
        System.arraycopy(rowShape, 0, shape, 1, rowShape.length);
        arrays.add(name, elements.dtype(), elements.data(), shape);
        nulls.addMask(name, arrays);
    }
}
