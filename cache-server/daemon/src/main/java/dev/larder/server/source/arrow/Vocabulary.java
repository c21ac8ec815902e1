package dev.larder.server.source.arrow;

import dev.larder.npy.Dtype;
import dev.larder.server.source.ArrayData;
import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The distinct elements of dictionaries, numbered in the order in which they first came. On the heap, within a limit. */
final class Vocabulary {
    /** What an element takes besides its bytes. */
    private static final long ELEMENT_BYTES = 128;

    private static final int HEAP_PARTS = 16;

    private final Map<ByteBuffer, Integer> numbers = new HashMap<>();
    private final List<ByteBuffer> elements = new ArrayList<>();
    private long budget = Runtime.getRuntime().maxMemory() / HEAP_PARTS;

    /** Returns the number of an element, or -1 where there is no room for a new one. */
    int number(ByteBuffer element) {
        Integer known = numbers.get(element);
        if (known != null) {
            return known;
        }
        budget -= ELEMENT_BYTES + element.remaining();
        if (budget < 0) {
            return -1;
        }
        numbers.put(element, elements.size());
        elements.add(element);
        return elements.size() - 1;
    }

    /** Returns all elements by their numbers. */
    List<ByteBuffer> elements() {
        return elements;
    }

    /** Adds an array of elements of this type. */
    void addNumbers(String name, String type, FoundArrays arrays) {
        int byteSize = elements.stream().mapToInt(ByteBuffer::remaining).sum();
        ByteBuffer all = ByteBuffer.allocate(byteSize);
        elements.forEach(element -> all.put(element.duplicate()));
        arrays.add(name, Dtype.parse(type), new Kept(all.flip()), elements.size());
    }

    /** Few bytes on the heap. */
    private record Kept(ByteBuffer bytes) implements ArrayData {
        @Override
        public ReadableByteChannel open() {
            byte[] copy = new byte[bytes.remaining()];
            bytes.duplicate().get(copy);
            return Channels.newChannel(new ByteArrayInputStream(copy));
        }
    }
}
