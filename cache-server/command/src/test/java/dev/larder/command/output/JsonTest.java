package dev.larder.command.output;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.layout.ColumnPart;
import dev.larder.protocol.ArrayRow;
import dev.larder.protocol.ArrayRow.State;
import dev.larder.protocol.DaemonStatus;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class JsonTest {
    private static final ArrayRow PLAIN = row("mnist/train-images", "<f4", List.of(60000L, 28L, 28L));

    private static ArrayRow row(String name, String dtype, List<Long> shape) {
        return new ArrayRow(
                name,
                dtype,
                shape,
                'C',
                188_160_000L,
                3,
                "ab12",
                State.RESIDENT,
                true,
                4,
                "/s/x.npy",
                4096,
                "0047f202",
                "/data/x.npy",
                ColumnPart.NONE);
    }

    @Test
    void anArrayHasExactlyTheKeysOfTheContract() {
        JsonObject array = JsonParser.parseString(Json.array(PLAIN)).getAsJsonObject();

        assertThat(array.keySet())
                .containsExactly(
                        "name",
                        "dtype",
                        "shape",
                        "order",
                        "bytes",
                        "version",
                        "digest",
                        "state",
                        "pinned",
                        "leases",
                        "path",
                        "offset",
                        "crc32c",
                        "source",
                        "column",
                        "columnKind");
    }

    @Test
    void anArrayIsWrittenAsItIs() {
        String text = Json.array(PLAIN).replaceAll("\\s", "");

        assertThat(text)
                .startsWith(
                        "{\"name\":\"mnist/train-images\",\"dtype\":\"<f4\",\"shape\":[60000,28,28],\"order\":\"C\",")
                .contains(
                        "\"bytes\":188160000,\"version\":3,\"digest\":\"ab12\",\"state\":\"resident\",\"pinned\":true,")
                .endsWith("\"path\":\"/s/x.npy\",\"offset\":4096,\"crc32c\":\"0047f202\","
                        + "\"source\":\"/data/x.npy\",\"column\":null,\"columnKind\":null}");
    }

    @Test
    void aStructuredTypeIsAListAndNotText() {
        ArrayRow row = row("d/points", "[[\"x\", \"<f8\"], [\"tags\", \"|S3\", [2, 2]]]", List.of(5L));

        JsonArray dtype =
                JsonParser.parseString(Json.array(row)).getAsJsonObject().getAsJsonArray("dtype");

        assertThat(dtype.get(0).getAsJsonArray().get(1).getAsString()).isEqualTo("<f8");
        assertThat(dtype.get(1).getAsJsonArray().get(2).getAsJsonArray()).hasSize(2);
    }

    @Test
    void aScalarHasAnEmptyShape() {
        ArrayRow row = row("d/x", "<i8", List.of());

        assertThat(JsonParser.parseString(Json.array(row)).getAsJsonObject().getAsJsonArray("shape"))
                .isEmpty();
    }

    @Test
    void aListingIsABareList() {
        JsonArray rows =
                JsonParser.parseString(Json.arrays(List.of(PLAIN, PLAIN))).getAsJsonArray();

        assertThat(rows).hasSize(2);
        assertThat(JsonParser.parseString(Json.arrays(List.of())).getAsJsonArray())
                .isEmpty();
    }

    @Test
    void namesBeyondAsciiAndQuotesSurvive() {
        ArrayRow row = row("d/größe\"日本", "|u1", List.of(1L));

        assertThat(JsonParser.parseString(Json.array(row))
                        .getAsJsonObject()
                        .get("name")
                        .getAsString())
                .isEqualTo("d/größe\"日本");
    }

    @Test
    void aStatusHasExactlyTheKeysOfTheContract() {
        DaemonStatus status =
                new DaemonStatus("/s", 42, "0.1", 1L << 40, 5, 4, 3, 2, 10, 1, "never", Duration.ofMillis(61_900));

        JsonObject json = JsonParser.parseString(Json.status(status)).getAsJsonObject();

        assertThat(json.keySet())
                .containsExactly(
                        "store",
                        "pid",
                        "version",
                        "capacityBytes",
                        "usedBytes",
                        "leasedBytes",
                        "pinnedBytes",
                        "retiredBytes",
                        "arrays",
                        "clients",
                        "hugePages",
                        "uptimeSeconds");
        assertThat(json.get("capacityBytes").getAsLong()).isEqualTo(1L << 40);
        assertThat(json.get("uptimeSeconds").getAsLong()).isEqualTo(61);
    }
}
