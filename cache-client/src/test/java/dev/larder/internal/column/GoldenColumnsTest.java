package dev.larder.internal.column;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.KeyTableDescriptor;
import dev.larder.internal.layout.TextHash;
import dev.larder.npy.Dtype;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.GoldenColumns;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Builds what an independent script built with numpy, byte for byte. */
class GoldenColumnsTest {
    private static final Map<String, FixtureArray> GOLDEN = GoldenColumns.arrays();
    private static final Set<String> COMPARED = new HashSet<>();

    @AfterAll
    static void everyGoldenArrayWasCompared() {
        assertThat(COMPARED).isEqualTo(GOLDEN.keySet());
    }

    @Test
    void textsHashAsSpecified() {
        assertThat(GoldenColumns.lines("text")).hasSize(10).allSatisfy(line -> {
            String key = new String(HexFormat.of().parseHex(line[1]), StandardCharsets.UTF_8);
            requireHash(TextHash.of(key), line);
        });
    }

    @Test
    void integersHashAsSpecified() {
        assertThat(GoldenColumns.lines("integer"))
                .hasSize(9)
                .allSatisfy(line -> requireHash(KeyTableDescriptor.hash(Long.parseLong(line[1])), line));
    }

    private static void requireHash(long hash, String[] line) {
        assertThat(hash).isEqualTo(Long.parseUnsignedLong(line[2], 16));
        assertThat(KeyTableDescriptor.firstSlot(hash, KeyTableDescriptor.shift(1 << 20)))
                .isEqualTo(Long.parseLong(line[3]));
        assertThat(KeyTableDescriptor.fingerprint(hash)).isEqualTo(Long.parseLong(line[4], 16));
    }

    @Test
    void anIndexOfTextsIsAsSpecified() {
        try (TextIndexBuilder scene = new TextIndexBuilder();
                TextIndexBuilder nothing = new TextIndexBuilder()) {
            for (String key : GoldenColumns.TEXTS) {
                scene.add(key, 7 * scene.size());
            }

            requireGolden("scene", scene);
            requireGolden("nothing", nothing);
        }
    }

    @Test
    void anIndexOfIntegersIsAsSpecified() {
        try (IntegerIndexBuilder id = new IntegerIndexBuilder();
                IntegerIndexBuilder none = new IntegerIndexBuilder()) {
            for (long key : GoldenColumns.INTEGERS) {
                id.add(key, (1L << 40) + id.size());
            }

            requireGolden("id", id);
            requireGolden("none", none);
        }
    }

    @Test
    void textsAreStoredAsSpecified() {
        try (StringsBuilder path = new StringsBuilder()) {
            GoldenColumns.TEXTS.forEach(path::add);

            requireGolden("path", path);
        }
    }

    @Test
    void raggedRowsAreStoredAsSpecified() {
        int[][] shapes = {{2, 3}, {0, 5}, {1, 1}, {4, 2}};
        try (RaggedBuilder feat = new RaggedBuilder(Dtype.parse("<f4"), 2);
                RaggedBuilder scalar = new RaggedBuilder(Dtype.parse(">i2"), 0)) {
            for (int[] shape : shapes) {
                feat.add(floats(shape[0] * shape[1], shape[0]), shape[0], shape[1]);
            }
            for (short k = 1; k <= 3; k++) {
                scalar.add(ByteBuffer.allocate(2).putShort(k).flip());
            }

            requireGolden("feat", feat);
            requireGolden("scalar", scalar);
        }
    }

    private static ByteBuffer floats(int count, float first) {
        ByteBuffer floats = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            floats.putFloat(first + i);
        }
        return floats.flip();
    }

    @Test
    void filesAreStoredAsSpecified() {
        byte[] twenty = new byte[20];
        for (byte i = 0; i < twenty.length; i++) {
            twenty[i] = i;
        }
        try (BytesBuilder files = new BytesBuilder()) {
            files.add("a.txt", ByteBuffer.wrap("hello".getBytes(StandardCharsets.US_ASCII)));
            files.add("b/empty", ByteBuffer.allocate(0));
            files.add("b/größe.bin", ByteBuffer.wrap(twenty));

            requireGolden("files", files);
        }
    }

    private static void requireGolden(String column, ColumnBuilder builder) {
        List<ColumnArray> arrays = builder.arrays(column);
        assertThat(arrays)
                .extracting(ColumnArray::name)
                .containsExactlyInAnyOrderElementsOf(GOLDEN.keySet().stream()
                        .filter(name -> name.startsWith(column + "/"))
                        .toList());
        for (ColumnArray array : arrays) {
            FixtureArray built = FixtureArray.of(array);
            FixtureArray golden = Objects.requireNonNull(GOLDEN.get(array.name()), array.name());
            assertThat(built.header()).as(array.name()).isEqualTo(golden.header());
            assertThat(built.part()).as(array.name()).isEqualTo(golden.part());
            assertThat(built.data()).as(array.name()).isEqualTo(golden.data());
            COMPARED.add(array.name());
        }
    }
}
