package dev.larder.rows;

import java.nio.ByteBuffer;

/** Computes one row of {@link dev.larder.client.ComputedRows}: the same bytes for the same row, whoever calls it and however often. */
@FunctionalInterface
public interface RowComputation {
    /**
     * Fills in a row. The buffer may not be kept: it is used again for other rows.
     *
     * @param row the number of the row of the dataset's arrays to compute from
     * @param result as long as a row, from position 0 to the limit, in the byte order of its type; zeros at first. Fill it up to its
     *     limit, or write by index and leave its position at 0; another position is an error
     */
    void compute(long row, ByteBuffer result);
}
