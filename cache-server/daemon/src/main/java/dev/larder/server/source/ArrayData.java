package dev.larder.server.source;

import dev.larder.internal.column.ColumnArray;
import java.nio.channels.ReadableByteChannel;
import java.util.List;
import java.util.function.UnaryOperator;

/** The bytes of an array: {@link Extents} of files, or a stream that a format writes. Thread-safe. */
@FunctionalInterface
public interface ArrayData {
    /**
     * Opens the data from the start. The channel returns exactly as many bytes as the array has, or fails with {@link
     * dev.larder.error.ErrorCode#BAD_INPUT} before it has returned the last of them. The caller closes it.
     */
    ReadableByteChannel open();

    /** Opens the data as {@link #open} does, but may release the bytes that were read: it is not opened again. */
    default ReadableByteChannel openForLastTime() {
        return open();
    }

    /** Releases memory and temporary files. The data cannot be opened afterwards. Idempotent. */
    default void release() {}

    /** Returns the same data with an action that {@link #release} also runs. */
    default ArrayData releasing(Runnable action) {
        return new WrittenData(this::open, this::openForLastTime, () -> {
            release();
            action.run();
        });
    }

    /** Returns data that is computed from this by another channel. */
    default ArrayData changed(UnaryOperator<ReadableByteChannel> change) {
        return new WrittenData(() -> change.apply(open()), () -> change.apply(openForLastTime()), this::release);
    }

    /** Returns {@code byteSize} bytes from {@code first} on. A format still writes all bytes before their end. */
    default ArrayData cut(long first, long byteSize) {
        return changed(channel -> new CutChannel(channel, first, byteSize));
    }

    /** Returns the data of an array that was built. It is outside of the heap until it is released. */
    static ArrayData of(ColumnArray array) {
        return new WrittenData(array::open, array::drain, array::close);
    }

    /** Returns the data of several arrays, one after the other; extents if all have extents. */
    static ArrayData joined(List<SourceArray> arrays) {
        Extents extents = Extents.joined(arrays);
        ArrayData written = () -> new JoinedChannel(arrays.stream().map(array -> array::open));
        return extents == null ? written.releasing(() -> arrays.forEach(SourceArray::release)) : extents;
    }
}
