package dev.larder.internal.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.npy.Dtype;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
            long freedBefore = memory.freedBytes;
            ReadableByteChannel last = array.drain();
            ByteBuffer first = read(last, 1 << 20);

            assertThat(first.getLong(8)).isEqualTo(1);
            assertThat(memory.freedBytes - freedBefore).isEqualTo(1 << 20);
            assertThatThrownBy(() -> read(array.open(), 8)).hasMessageContaining("bytes were freed");
            assertThat(read(last, 16).getLong()).isEqualTo((1 << 20) / Long.BYTES);
        }

        assertThat(memory.freedBytes).isEqualTo(memory.allocatedBytes);
    }

    @Test
    void smallColumnsSharePages() throws IOException {
        List<ElementsBuilder> builders = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            builders.add(counting(5));
        }

        assertThat(memory.populatedBytes).isEqualTo(64 << 10);
        assertThat(memory.allocatedBytes).isEqualTo(64 << 10);
        for (ElementsBuilder builder : builders) {
            ColumnArray array = builder.array("x", Dtype.parse("<i8"), 5);
            assertThat(read(array.open(), 40).asLongBuffer()).isEqualTo(LongBuffer.wrap(new long[] {0, 1, 2, 3, 4}));
            builder.close();
            builder.close();
        }
        assertThat(memory.freedBytes).isEqualTo(memory.allocatedBytes);
    }

    @Test
    void columnsThatGrowSideBySideKeepTheirElements() throws IOException {
        List<ElementsBuilder> builders =
                Stream.generate(() -> new ElementsBuilder(memory)).limit(50).toList();
        for (long row = 0; row < 10_000; row++) {
            for (int i = (int) row / 200; i < builders.size(); i++) {
                builders.get(i).add(row * 100 + i);
            }
        }

        for (int i = 0; i < builders.size(); i++) {
            int rows = (i + 1) * 200;
            ByteBuffer elements =
                    read(builders.get(i).array("x", Dtype.parse("<i8"), rows).open(), rows * Long.BYTES);
            for (long row = 0; row < rows; row++) {
                assertThat(elements.getLong()).isEqualTo(row * 100 + i);
            }
            builders.get(i).close();
        }
        assertThat(memory.freedBytes).isEqualTo(memory.allocatedBytes);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 256, 512, 4096, 8192, 1 << 19})
    void aColumnThatLacksRoomToGrowIsFreedOnce(int elements) {
        ElementsBuilder builder = counting(elements);
        memory.isFull = true;

        assertThatThrownBy(() -> builder.add(0)).hasMessage("full");
        builder.close();

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
}
