package dev.larder.server.source;

import java.nio.channels.ReadableByteChannel;
import java.util.List;

/**
 * The data of several arrays, one after the other.
 *
 * @param parts in the order of their bytes
 */
public record JoinedData(List<ArrayData> parts) implements ArrayData {
    /** Keeps its own copy. */
    public JoinedData {
        parts = List.copyOf(parts);
    }

    /** Returns the data of several arrays; extents if all parts are such. */
    public static ArrayData of(List<ArrayData> parts) {
        Extents extents = Extents.joined(List.copyOf(parts));
        return extents == null ? new JoinedData(parts) : extents;
    }

    @Override
    public ReadableByteChannel open() {
        return new JoinedChannel(parts.stream().map(part -> part::open));
    }

    @Override
    public void release() {
        parts.forEach(ArrayData::release);
    }
}
