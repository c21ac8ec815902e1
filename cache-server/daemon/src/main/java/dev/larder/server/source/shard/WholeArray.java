package dev.larder.server.source.shard;

import dev.larder.server.source.SourceArray;
import java.util.Arrays;
import java.util.List;

/**
 * What all of an array is like that no node has.
 *
 * @param shape its dimensions
 * @param crc32c of all its bytes
 */
public record WholeArray(List<Long> shape, int crc32c) {
    /** Copies the list. */
    public WholeArray {
        shape = List.copyOf(shape);
    }

    static WholeArray of(SourceArray array, int crc32c) {
        return new WholeArray(Arrays.stream(array.shape()).boxed().toList(), crc32c);
    }
}
