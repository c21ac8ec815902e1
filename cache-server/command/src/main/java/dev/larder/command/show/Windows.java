package dev.larder.command.show;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Reads all elements of an array with all processors, window by window. */
final class Windows {
    private Windows() {}

    /** Applies a function to each window; returns the results in the order of the windows. */
    static <T> List<T> map(Cells cells, LongConsumer onElements, Function<ByteBuffer, T> function) {
        return LongStream.range(0, count(cells))
                .parallel()
                .mapToObj(window -> function.apply(read(cells, window, onElements)))
                .toList();
    }

    /** Applies a function to parts of the array, one for each processor. */
    static <T> List<T> parts(Cells cells, LongConsumer onElements, Function<Stream<ByteBuffer>, T> function) {
        long windows = count(cells);
        long parts = Math.min(windows, Runtime.getRuntime().availableProcessors());
        return LongStream.range(0, parts)
                .parallel()
                .mapToObj(part -> function.apply(LongStream.range(part * windows / parts, (part + 1) * windows / parts)
                        .mapToObj(window -> read(cells, window, onElements))))
                .toList();
    }

    private static long count(Cells cells) {
        return (cells.elementCount() + cells.windowElements() - 1) / cells.windowElements();
    }

    private static ByteBuffer read(Cells cells, long window, LongConsumer onElements) {
        ByteBuffer bytes = cells.elementsFrom(window * cells.windowElements());
        synchronized (onElements) {
            onElements.accept(bytes.capacity() / cells.dtype().itemSize());
        }
        return bytes;
    }
}
