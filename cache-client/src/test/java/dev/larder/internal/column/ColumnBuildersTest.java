package dev.larder.internal.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.npy.Dtype;
import dev.larder.testing.FixtureArray;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The memory of builders, and rows that they refuse. */
class ColumnBuildersTest {
    private static final int MIB = 1 << 20;

    private final CountingMemory memory = new CountingMemory();

    private static ByteBuffer utf8(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    static Stream<Named<Consumer<ColumnMemory>>> fills() {
        return Stream.of(
                Named.of("texts", memory -> {
                    try (TextIndexBuilder builder = new TextIndexBuilder(memory)) {
                        builder.add("a", 1);
                        builder.arrays("x");
                    }
                }),
                Named.of("integers", memory -> {
                    try (IntegerIndexBuilder builder = new IntegerIndexBuilder(memory)) {
                        builder.add(7, 1);
                        builder.arrays("x");
                    }
                }),
                Named.of("strings", memory -> {
                    try (StringsBuilder builder = new StringsBuilder(memory)) {
                        builder.add("a");
                    }
                }),
                Named.of("bytes", memory -> {
                    try (BytesBuilder builder = new BytesBuilder(memory)) {
                        builder.add("name", utf8("a"));
                    }
                }),
                Named.of("shapes", memory -> {
                    try (RowShapes shapes = new RowShapes(2, memory)) {
                        shapes.add(2, 3);
                    }
                }),
                Named.of("array", memory -> {
                    ElementsBuilder builder = new ElementsBuilder(memory);
                    builder.add(utf8("12345678"));
                    try (ColumnArray array = builder.array("x", Dtype.parse("|u1"), 8)) {
                        assertThat(new String(FixtureArray.of(array).data(), StandardCharsets.UTF_8))
                                .isEqualTo("12345678");
                    }
                }));
    }

    @ParameterizedTest
    @MethodSource("fills")
    void aClosedBuilderHasFreedAllItsMemory(Consumer<ColumnMemory> fill) {
        fill.accept(memory);

        assertThat(memory.allocatedBytes).isPositive();
        assertThat(memory.freedBytes).isEqualTo(memory.allocatedBytes);
    }

    @Test
    void rowsThatCrossPiecesOfMemoryAreWhole() {
        try (StringsBuilder builder = new StringsBuilder(memory)) {
            byte[] expected = new byte[9 * MIB];
            for (int row = 0; row < 9; row++) {
                byte[] text = new byte[row == 0 ? MIB + 3 : row == 8 ? MIB - 3 : MIB];
                for (int i = 0; i < text.length; i++) {
                    text[i] = (byte) ('a' + (row + i) % 23);
                }
                System.arraycopy(text, 0, expected, row == 0 ? 0 : row * MIB + 3, text.length);
                builder.addUtf8(ByteBuffer.wrap(text));
            }

            assertThat(memory.populatedBytes).isGreaterThanOrEqualTo(9 * MIB);
            byte[] stored = FixtureArray.of(builder.arrays("x").get(0)).data();
            assertThat(Arrays.equals(stored, expected)).isTrue();
        }
        assertThat(memory.freedBytes).isEqualTo(memory.allocatedBytes);
    }

    @Test
    void aKeyThatStandsTwiceIsReportedWithBothPlaces() {
        try (TextIndexBuilder builder = new TextIndexBuilder()) {
            for (int i = 0; i < 100; i++) {
                builder.add("key" + i, i);
            }
            builder.add("key37", 100);
            assertThat(builder.repeated()).isEmpty();

            assertThatThrownBy(() -> builder.arrays("x"))
                    .hasMessageContaining("an index has a key twice: column=x key=key37 secondPlace=100");
            assertThat(builder.repeated()).containsExactly(37, 100);
            assertThat(builder.keyAt(37)).isEqualTo("key37");
            assertThat(builder.keyAt(99)).isEqualTo("key99");
        }
    }

    @Test
    void keysOfEqualHashAreToldApartByTheirText() {
        try (TextIndexBuilder builder = new TextIndexBuilder()) { // equal CRC-32
            builder.add("plumless", 1);
            builder.add("buckeroo", 2);
            builder.add("x".repeat(5000), 3);

            assertThat(builder.arrays("x")).hasSize(3);
            assertThat(builder.repeated()).isEmpty();
        }
    }

    @Test
    void negativeRowsAndLengthsAreRefused() {
        try (TextIndexBuilder texts = new TextIndexBuilder();
                IntegerIndexBuilder integers = new IntegerIndexBuilder();
                RowOffsets offsets = new RowOffsets(ColumnMemory.anonymous());
                RowShapes shapes = new RowShapes(1)) {
            assertThatThrownBy(() -> texts.add("a", -1)).hasMessage("row=-1");
            assertThatThrownBy(() -> integers.add(1, -1)).hasMessage("row=-1");
            assertThatThrownBy(() -> offsets.add(-1)).hasMessage("elements=-1");
            assertThatThrownBy(() -> shapes.add(-1)).hasMessage("shape=[-1]");
            assertThatThrownBy(() -> shapes.add(1, 1))
                    .hasMessageContaining("row has another number of dimensions: row=0");
            assertThat(List.of(texts.size(), integers.size(), offsets.size(), shapes.size()))
                    .containsOnly(0L);
        }
        assertThatThrownBy(() -> new RowShapes(-1)).hasMessage("dimensions=-1");
    }

    @Test
    void aRaggedRowHasTheBytesOfItsShape() {
        try (RaggedBuilder builder = new RaggedBuilder(Dtype.parse("<i2"), 2)) {
            builder.add(ByteBuffer.allocate(12), 2, 3);

            assertThatThrownBy(() -> builder.add(ByteBuffer.allocate(13), 2, 3))
                    .hasMessageContaining("row has the wrong length: row=1 bytes=13 expected=12 shape=[2, 3]");
            assertThat(builder.size()).isEqualTo(1);
        }
    }

    @Test
    void allRowsHaveNamesOrNone() {
        try (BytesBuilder named = new BytesBuilder();
                BytesBuilder unnamed = new BytesBuilder()) {
            named.add("a", utf8("1"));
            unnamed.add(utf8("1"));

            assertThatThrownBy(() -> named.add(utf8("2"))).hasMessage("some rows have names, some have none: rows=1");
            assertThatThrownBy(() -> unnamed.add("b", utf8("2")))
                    .hasMessage("some rows have names, some have none: rows=1");
            assertThat(unnamed.arrays("x")).extracting(ColumnArray::name).containsExactly("x/values", "x/offsets");
            assertThat(FixtureArray.of(unnamed.arrays("x").get(0)).data()).containsExactly('1');
        }
    }

    @Test
    void aClosedColumnIsRefusedInsteadOfRead() {
        StringsBuilder builder = new StringsBuilder();
        builder.add("a");
        ColumnArray array = builder.arrays("x").get(0);
        builder.close();

        assertThatThrownBy(() -> array.open().read(ByteBuffer.allocate(1))).hasMessage("column is closed");
        assertThatThrownBy(() -> builder.add("b")).hasMessage("column is closed");
    }

    @Test
    void aLongTextIsShownByItsBeginningWithoutControlCharacters() {
        assertThat(Utf8.shown("a\nb\uD83D")).isEqualTo("a?b?");
        assertThat(Utf8.shown("x".repeat(80))).isEqualTo("x".repeat(80));
        assertThat(Utf8.shown("x".repeat(81))).isEqualTo("x".repeat(80) + "...");
    }
}
