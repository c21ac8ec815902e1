package dev.larder.server.source;

import java.nio.channels.ReadableByteChannel;
import java.util.List;

/**
 * The data of several arrays, one after the other.
 *
 * @param arrays in the order of their bytes
 */
public record JoinedData(List<SourceArray> arrays) implements ArrayData {
    /** Keeps its own copy. */
    public JoinedData {
        arrays = List.copyOf(arrays);
    }

    /** Returns the data of several arrays; extents if all have extents. */
    public static ArrayData of(List<SourceArray> arrays) {
        Extents extents = Extents.joined(List.copyOf(arrays));
        return extents == null ? new JoinedData(arrays) : extents;
    }

    @Override
    public ReadableByteChannel open() {
        return new JoinedChannel(arrays.stream().map(array -> array::open));
    }

    @Override
    public void release() {
        arrays.forEach(SourceArray::release);
    }
}
