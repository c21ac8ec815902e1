package dev.larder.readers.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hardwood.InputFile;
import dev.hardwood.reader.ParquetFileReader;
import dev.larder.reader.BadSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads, whole and damaged, the schema that pyarrow has written into {@code durations.parquet}. */
class ArrowDurationsTest {
    private static final Path FILE = Path.of("src/test/resources/golden/durations.parquet");
    private static final String KEY = "ARROW:schema";

    private byte[] schema = {};

    @BeforeEach
    void readSchema() throws IOException {
        try (ParquetFileReader reader = ParquetFileReader.open(InputFile.of(FILE))) {
            schema = Base64.getDecoder()
                    .decode(reader.getFileMetaData().keyValueMetadata().get(KEY));
        }
    }

    private static Map<String, String> of(byte[] bytes) throws BadSource {
        return ArrowDurations.of(3, Map.of(KEY, Base64.getEncoder().encodeToString(bytes)));
    }

    @Test
    void unitsAreFoundInListsAndStructs() throws IOException {
        assertThat(of(schema))
                .containsEntry("d_s", "s")
                .containsEntry("list", "ms")
                .containsEntry("st/a", "ns")
                .containsEntry("st/b/c", "s")
                .containsEntry("points/t", "us")
                .doesNotContainKeys("plain", "points/n", "points");
    }

    @Test
    void messagesOfOldWritersHaveNoMarkBeforeTheirLength() throws IOException {
        byte[] unmarked = Arrays.copyOfRange(schema, Integer.BYTES, schema.length);

        assertThat(of(unmarked)).isEqualTo(of(schema)).isNotEmpty();
    }

    @Test
    void filesWithoutASchemaHaveNoUnits() throws IOException {
        assertThat(ArrowDurations.of(0, Map.of("pandas", "{}"))).isEmpty();
    }

    @Test
    void aSchemaThatIsCutOffIsRefused() {
        for (byte[] cut : new byte[][] {{}, Arrays.copyOf(schema, 7), Arrays.copyOf(schema, schema.length / 3)}) {
            assertThatThrownBy(() -> of(cut))
                    .isInstanceOfSatisfying(
                            BadSource.class, e -> assertThat(e.file()).isEqualTo(3))
                    .hasMessageStartingWith("the Arrow schema in its metadata is malformed (");
        }
    }

    @Test
    void aDamagedSchemaEndsSoon() {
        Random random = new Random(20_261_126);
        for (int round = 0; round < 20_000; round++) {
            ByteBuffer damaged = ByteBuffer.wrap(schema.clone()).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < 4; i++) {
                damaged.putInt(random.nextInt(schema.length / 4) * 4, random.nextInt(-schema.length, schema.length));
            }
            try {
                assertThat(of(damaged.array())).isNotNull();
            } catch (BadSource e) {
                assertThat(e).hasMessageStartingWith("the Arrow schema in its metadata is malformed (");
            }
        }
    }
}
