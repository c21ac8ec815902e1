package dev.larder.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.npy.Dtype;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ElementsBuilderTest {
    private static final int ELEMENTS = 1 << 20;

    private final CountingMemory memory = new CountingMemory();

    @Test
    void elementsAreReplacedInPlace() throws IOException {
        try (ElementsBuilder builder = counting(3)) {
            builder.replaceAll(element -> -element);

            ColumnArray array = builder.array("x", Dtype.parse("<i8"), 3);

            assertThat(array.name()).isEqualTo("x");
            assertThat(read(array.open(), 24).asLongBuffer()).isEqualTo(LongBuffer.wrap(new long[] {0, -1, -2}));
        }
    }

    @Test
    void memoryIsFreedWhileItIsReadForTheLastTimeAndOnceInAll() throws IOException {
        try (ElementsBuilder builder = counting(ELEMENTS)) {
            ColumnArray array = builder.array("x", Dtype.parse("<i8"), ELEMENTS);
            ReadableByteChannel last = array.drain();
            ByteBuffer first = read(last, 1 << 20);

            assertThat(first.getLong(8)).isEqualTo(1);
            assertThat(memory.freedBytes).isEqualTo(1 << 20);
            assertThatThrownBy(() -> read(array.open(), 8)).hasMessageContaining("bytes were given back");
            assertThat(read(last, 16).getLong()).isEqualTo((1 << 20) / Long.BYTES);
        }

        assertThat(memory.freedBytes).isEqualTo(memory.allocatedBytes);
    }

    private ElementsBuilder counting(int count) {
        ElementsBuilder builder = new ElementsBuilder(memory);
        for (long i = 0; i < count; i++) {
            builder.add(i);
        }
        return builder;
    }

    private static ByteBuffer read(ReadableByteChannel channel, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            assertThat(channel.read(bytes)).isPositive();
        }
        return bytes.flip();
    }

    /** Memory that is freed at most once. */
    private static final class CountingMemory implements ColumnMemory {
        private final TreeMap<Long, Long> freed = new TreeMap<>();
        private long allocatedBytes;
        private long freedBytes;

        @Override
        public long allocate(long byteSize) {
            allocatedBytes += byteSize;
            return ColumnMemory.anonymous().allocate(byteSize);
        }

        @Override
        public void populate(long address, long byteSize) {}

        @Override
        public void free(long address, long byteSize, long populatedBytes) {
            assertThat(freed.put(address, byteSize)).isNull();
            freedBytes += byteSize;
            ColumnMemory.anonymous().free(address, byteSize, populatedBytes);
        }
    }
}
