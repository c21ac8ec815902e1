package dev.larder.rows;

import java.nio.ByteBuffer;

/**
 * Computes one row of {@link dev.larder.client.ComputedRows}. It must return the same bytes for the same row at every call in every
 * process.
 */
@FunctionalInterface
public interface RowComputation {
    /**
     * Computes a row. The buffer must not be kept, because it is reused for other rows.
     *
     * @param row the row number in the dataset's arrays
     * @param result a zeroed buffer as long as a row, in the byte order of its type. Fill it up to its limit, or write by index
     *     and leave its position at 0; any other position is an error
     */
    void compute(long row, ByteBuffer result);
}
