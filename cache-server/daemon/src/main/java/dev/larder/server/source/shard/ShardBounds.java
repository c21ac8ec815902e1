package dev.larder.server.source.shard;

import dev.larder.internal.layout.ShardRows;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;

/**
 * Where in the values of a column the rows of a shard begin and end.
 *
 * @param first the first value of its rows
 * @param firstOwn the first value of those rows that no node before has
 * @param end the value behind its last
 * @param crc32c that of the offsets of the whole column
 */
record ShardBounds(long first, long firstOwn, long end, int crc32c) {
    /** Reads the offsets of all rows, and checks that they are in order and lead to all values. */
    static ShardBounds of(SourceArray offsets, SourceArray values, ShardRows shard) {
        long[] shape = offsets.shape();
        if (!offsets.dtype().descr().equals("<i8")
                || shape.length != 1
                || shape[0] == 0
                || values.shape().length != 1) {
            throw outOfOrder(offsets);
        }
        long total = shape[0] - 1;
        long firstRow = shard.first(total);
        long[] found = new long[3];
        try (WholeStream stream = new WholeStream(offsets)) {
            long previous = 0;
            for (long row = 0; row <= total; row++) {
                long offset = stream.nextLong();
                if (offset < previous || (row == 0 && offset != 0)) {
                    throw outOfOrder(offsets);
                }
                previous = offset;
                found[0] = row == firstRow ? offset : found[0];
                found[1] = row == shard.firstOwn(total) ? offset : found[1];
                found[2] = row == firstRow + shard.rows(total) ? offset : found[2];
            }
            if (previous != values.shape()[0]) {
                throw outOfOrder(offsets);
            }
            return new ShardBounds(found[0], found[1], found[2], stream.crc32c());
        }
    }

    private static RuntimeException outOfOrder(SourceArray offsets) {
        return Refusal.of(offsets.file(), 0, "offsets of its rows are out of order: array=" + offsets.name());
    }
}
