package dev.larder.readers.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hardwood.InputFile;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.schema.FileSchema;
import dev.larder.reader.BadSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads, whole and damaged, the Arrow schema that pyarrow has written into {@code durations.parquet}. */
class FileFieldsTest {
    private static final Path FILE = Path.of("src/test/resources/golden/durations.parquet");
    private static final String KEY = "ARROW:schema";

    private byte[] schema = {};
    private @Nullable FileSchema file;

    @BeforeEach
    void readSchema() throws IOException {
        try (ParquetFileReader reader = ParquetFileReader.open(InputFile.of(FILE))) {
            String text = reader.getFileMetaData().keyValueMetadata().get(KEY);
            schema = Base64.getDecoder().decode(text);
            file = reader.getFileSchema();
        }
    }

    private Map<String, String> dtypes(byte[] bytes) throws BadSource {
        return dtypes(Map.of(KEY, Base64.getEncoder().encodeToString(bytes)));
    }

    private Map<String, String> dtypes(Map<String, String> metadata) throws BadSource {
        Map<String, String> dtypes = new TreeMap<>();
        for (FileFields.Leaf leaf : FileFields.of(3, Objects.requireNonNull(file), metadata)) {
            dtypes.put(leaf.name(), Objects.requireNonNull(leaf.kind()).dtype());
        }
        return dtypes;
    }

    @Test
    void typesAreFoundInListsStructsAndMaps() throws IOException {
        assertThat(dtypes(schema))
                .containsEntry("d_s", "<m8[s]")
                .containsEntry("list", "<m8[ms]")
                .containsEntry("st/a", "<m8[ns]")
                .containsEntry("st/b/c", "<m8[s]")
                .containsEntry("points.items/t", "<m8[us]")
                .containsEntry("points.items/n", "<i8")
                .containsEntry("codes.items/value", "<i4");
    }

    @Test
    void messagesOfOldWritersHaveNoMarkBeforeTheirLength() throws IOException {
        byte[] unmarked = Arrays.copyOfRange(schema, Integer.BYTES, schema.length);

        assertThat(dtypes(unmarked)).isEqualTo(dtypes(schema)).isNotEmpty();
    }

    @Test
    void filesWithoutASchemaHaveTheTypesOfParquet() throws IOException {
        assertThat(dtypes(Map.of("pandas", "{}")))
                .containsEntry("d_s", "<i8")
                .containsEntry("list", "<i8")
                .hasSameSizeAs(dtypes(schema));
    }

    @Test
    void aSchemaThatIsCutOffIsRefused() {
        for (byte[] cut : new byte[][] {{}, Arrays.copyOf(schema, 7), Arrays.copyOf(schema, schema.length / 3)}) {
            assertThatThrownBy(() -> dtypes(cut))
                    .isInstanceOfSatisfying(
                            BadSource.class, e -> assertThat(e.file()).isEqualTo(3))
                    .hasMessageStartingWith("the Arrow schema in its metadata is malformed (");
        }
    }

    @Test
    void aDamagedSchemaEndsSoonAndChangesNoTypeButThatOfADuration() throws IOException {
        Map<String, String> bare = dtypes(Map.of());
        Random random = new Random(20_261_126);
        for (int round = 0; round < 8_000; round++) {
            ByteBuffer damaged = ByteBuffer.wrap(schema.clone()).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < 4; i++) {
                damaged.putInt(random.nextInt(schema.length / 4) * 4, random.nextInt(-schema.length, schema.length));
            }
            try {
                dtypes(damaged.array())
                        .forEach((name, dtype) ->
                                assertThat(dtype.replaceAll("m8\\[.*", "i8")).isEqualTo(bare.get(name)));
            } catch (BadSource e) {
                assertThat(e).hasMessageStartingWith("the Arrow schema in its metadata is malformed (");
            }
        }
    }
}
