package dev.larder.command.output;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.ArrayRow.State;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.server.store.StoreReport;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
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
        JsonArray rows = JsonParser.parseString(printed(PLAIN, PLAIN)).getAsJsonArray();

        assertThat(rows).hasSize(2);
        assertThat(JsonParser.parseString(printed()).getAsJsonArray()).isEmpty();
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
        DaemonStatus status = new DaemonStatus(
                "/s",
                42,
                "0.1",
                1L << 40,
                5,
                4,
                3,
                2,
                12,
                10,
                1,
                "never",
                10,
                11,
                "interleave:0-1",
                Duration.ofMillis(61_900),
                "");

        JsonObject json = JsonParser.parseString(Json.status(status, List.of(), List.of(), List.of()))
                .getAsJsonObject();

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
                        "reservedBytes",
                        "arrays",
                        "clients",
                        "hugePages",
                        "hugeBytes",
                        "hugeRefusedBytes",
                        "memoryPolicy",
                        "statusPage",
                        "uptimeSeconds",
                        "feeds",
                        "loads");
        assertThat(json.get("capacityBytes").getAsLong()).isEqualTo(1L << 40);
        assertThat(json.get("reservedBytes").getAsLong()).isEqualTo(12);
        assertThat(json.get("uptimeSeconds").getAsLong()).isEqualTo(61);
        assertThat(json.get("statusPage").isJsonNull()).isTrue();
    }

    @Test
    void clientsAreWrittenAsTheyAlwaysWere() {
        ClientRow client =
                new ClientRow(1, 2, "u", "java -jar \u2028 <x>", "p", List.of("a"), 7, List.of("run1"), null);
        ClientRow idle = new ClientRow(3, 0, "", "", "", List.of(), 0, List.of(), null);

        assertThat(Json.document(List.of(Json.fields(client), Json.fields(idle))))
                .isEqualTo("""
                        [
                          {
                            "pid": 1,
                            "uid": 2,
                            "user": "u",
                            "command": "java -jar \\u2028 <x>",
                            "datasets": [
                              "a"
                            ],
                            "bytes": 7,
                            "feeds": [
                              "run1"
                            ]
                          },
                          {
                            "pid": 3,
                            "uid": 0,
                            "user": "",
                            "command": "",
                            "datasets": [],
                            "bytes": 0,
                            "feeds": []
                          }
                        ]""");
    }

    @Test
    void errorsAreWrittenAsTheyAlwaysWere() {
        List<ErrorRow> errors = List.of(new ErrorRow(3, Instant.EPOCH, Instant.ofEpochMilli(1234), "m\n", "t\tr"));

        assertThat(Json.errors(errors, true)).isEqualTo("""
                        [
                          {
                            "count": 3,
                            "first": "1970-01-01T00:00:00Z",
                            "last": "1970-01-01T00:00:01.234Z",
                            "message": "m\\n",
                            "trace": "t\\tr"
                          }
                        ]""");
        assertThat(Json.errors(errors, false)).doesNotContain("trace");
    }

    @Test
    void regionsAreWrittenAsTheyAlwaysWere() {
        RegionRow region = new RegionRow("q", "handle-queue", 1, 2, "/s/regions/q@1", 4, Instant.EPOCH);

        assertThat(Json.regions(List.of(region))).isEqualTo("""
                        [
                          {
                            "name": "q",
                            "kind": "handle-queue",
                            "bytes": 2,
                            "creatorPid": 4,
                            "created": "1970-01-01T00:00:00Z",
                            "path": "/s/regions/q@1"
                          }
                        ]""");
    }

    @Test
    void storesAreWrittenAsTheyAlwaysWere() {
        StoreReport report =
                new StoreReport(Path.of("/s"), StoreReport.State.NO_STORE, "d", 1, 2, 3, List.of("x/1"), List.of(4L));

        assertThat(Json.stores(List.of(report))).isEqualTo("""
                        [
                          {
                            "store": "/s",
                            "state": "noStore",
                            "detail": "d",
                            "files": 1,
                            "bytes": 2,
                            "heldUntilExit": 3,
                            "leased": [
                              "x/1"
                            ],
                            "pids": [
                              4
                            ]
                          }
                        ]""");
    }

    private static String printed(ArrayRow... rows) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        Json.print(out, Stream.of(rows).map(Json::fields));
        out.flush();
        return text.toString();
    }
}
