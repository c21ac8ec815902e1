package dev.larder.command.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.command.output.Json;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Dtype;
import dev.larder.server.Daemon;
import dev.larder.server.DaemonConfig;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The documents of the page, over HTTP, from a daemon of this JVM. */
class StatusPageTest {
    private static final String HOSTILE = "<img src=x onerror=alert(1)>";

    private static final int THREADS = 16;
    private static final byte[] PNG = "\u0089PNG\r\n\u001a\n, and more".getBytes(StandardCharsets.ISO_8859_1);

    @TempDir
    static Path folder;

    private static Path store;
    private static Daemon daemon;
    private static Function<String, URI> address;

    @BeforeAll
    static void serve() throws IOException {
        store = Files.createTempDirectory(Path.of("/dev/shm"), "larder-page-test");
        Files.delete(store);
        daemon = Daemon.start(new DaemonConfig(store, OptionalLong.of(64 << 20), 1));
        address = daemon.serveHttp(0, Set.of(), null, StatusPage.resources(daemon.overview(), store));
        try (Larder larder = Larder.connect(store)) {
            publish(larder, "images", 10, 4, 4);
            publish(larder, "vector", 300);
            publish(larder, "empty", 0, 3);
        }
        Path hostile = Files.createDirectory(folder.resolve(HOSTILE.replace("/", "")));
        Files.write(hostile.resolve("a.bin"), new byte[5]);
        Files.writeString(hostile.resolve("a.csv"), "x\n1\n2\n");
        load("named", hostile.resolve("a.csv"), LoadOptions.none());
        Path mapped = Files.write(folder.resolve("m.npy"), npy());
        Path pets = folder.resolve("pets");
        Path cats = Files.createDirectories(pets.resolve("cats"));
        Files.write(cats.resolve("a.png"), PNG);
        Files.write(cats.resolve("b.jpg"), "not an image".getBytes(StandardCharsets.US_ASCII));
        load("pets", pets, LoadOptions.none().withAs(LoadOptions.As.BYTES));
        load("mapped", mapped, LoadOptions.none().withInPlace(true));
        for (int i = 0; i < THREADS; i++) { // the daemon's threads come with the first questions, and stay for 10 s
            ask("/status.json", "").getResponseCode();
            ControlClient.at(store).status();
            ControlClient.at(store).list("", false);
        }
    }

    private static byte[] npy() {
        String header = "{'descr': '|u1', 'fortran_order': False, 'shape': (8,), }";
        return String.format("\u0093NUMPY\u0001\0v\0%-117s\n12345678", header).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static void load(String name, Path path, LoadOptions options) {
        LoadRequest request = new LoadRequest(List.of(new LoadRequest.Source(name, path.toString())), options, 0);
        daemon.load(request, ProgressListener.NONE);
    }

    private static void publish(Larder larder, String name, long... shape) {
        try (var builder = larder.create(name, Dtype.parse("|u1"), shape)) {
            long length = 1;
            for (long extent : shape) {
                length *= extent;
            }
            byte[] bytes = new byte[(int) length];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) (i % 200);
            }
            builder.array().write(0, ByteBuffer.wrap(bytes));
            builder.publish();
        }
    }

    @AfterAll
    static void stop() {
        daemon.close();
        assertThat(store).doesNotExist();
    }

    private static HttpURLConnection ask(String path, String query) throws IOException {
        URI uri = address.apply(path);
        HttpURLConnection connection =
                (HttpURLConnection) uri.resolve(path + "?" + query).toURL().openConnection();
        connection.setRequestProperty(
                "Authorization", "Bearer " + uri.getRawQuery().substring("token=".length()));
        return connection;
    }

    private static String read(String path, String query) throws IOException {
        HttpURLConnection answer = ask(path, query);
        assertThat(answer.getResponseCode()).as(path + " " + query).isEqualTo(200);
        return new String(answer.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static JsonObject json(String path, String query) throws IOException {
        return JsonParser.parseString(read(path, query)).getAsJsonObject();
    }

    private static List<String> names(JsonElement rows) {
        return rows.getAsJsonArray().asList().stream()
                .map(row -> row.getAsJsonObject().get("name").getAsString())
                .toList();
    }

    @Test
    void totalsAreThoseOfStatusAndTheSpaceAddsUpToTheCapacity() throws IOException {
        JsonObject page = json("/status.json", "");
        JsonObject status = JsonParser.parseString(
                        Json.document(Json.fields(ControlClient.at(store).status())))
                .getAsJsonObject();

        status.entrySet()
                .forEach(field ->
                        assertThat(page.get(field.getKey())).as(field.getKey()).isEqualTo(field.getValue()));
        long sum = page.getAsJsonObject("space").asMap().values().stream()
                .mapToLong(JsonElement::getAsLong)
                .sum();
        assertThat(sum).isEqualTo(page.get("capacityBytes").getAsLong());
    }

    @Test
    void chartsBeginWithSamplesOfTheTimeBeforeThePageWasOpened() throws IOException {
        JsonElement used = json("/status.json", "").get("usedBytes");
        JsonObject history = await().until(() -> json("/history.json", ""), taken -> {
            JsonArray samples = taken.getAsJsonArray("usedBytes"); // the newest may be older than the last load
            return samples.size() > 1 && samples.get(samples.size() - 1).equals(used);
        });

        assertThat(history.keySet()).containsExactly("epochMs", "usedBytes", "leasedBytes", "askHits", "askMisses");
        int count = history.getAsJsonArray("epochMs").size();
        assertThat(history.entrySet())
                .allSatisfy(figure -> assertThat(figure.getValue().getAsJsonArray())
                        .as(figure.getKey())
                        .hasSizeGreaterThanOrEqualTo(2));
        assertThat(history.getAsJsonArray("epochMs").get(count - 1).getAsLong())
                .isGreaterThan(history.getAsJsonArray("epochMs").get(0).getAsLong());
    }

    @Test
    void chartsShowLeasesFromBeforeThePageWasOpened() throws IOException {
        json("/status.json", "");
        try (Larder larder = Larder.connect(store);
                Dataset dataset = larder.dataset("images")) {
            assertThat(dataset.version()).isPositive();

            await().untilAsserted(() -> assertThat(lastLeasedBytes()).isPositive());
        }
        await().untilAsserted(() -> assertThat(lastLeasedBytes()).isZero());
    }

    private static long lastLeasedBytes() throws IOException {
        JsonArray leased = json("/history.json", "").getAsJsonArray("leasedBytes");
        return leased.get(leased.size() - 1).getAsLong();
    }

    @Test
    void arraysAreThoseOfLs() throws IOException {
        JsonArray rows = json("/arrays.json", "dataset=images").getAsJsonArray("rows");

        String listed = Json.document(ControlClient.at(store).list("images", false).stream()
                .map(Json::fields)
                .toList());
        assertThat(rows).isEqualTo(JsonParser.parseString(listed));
    }

    @Test
    void datasetsComeInPagesSortedAndFiltered() throws IOException {
        JsonObject byBytes =
                json("/status.json", "sort=bytes&order=desc&count=1").getAsJsonObject("datasets");
        JsonObject found = json("/status.json", "match=AGE").getAsJsonObject("datasets");

        assertThat(byBytes.get("total").getAsInt()).isEqualTo(6);
        assertThat(names(byBytes.get("rows"))).containsExactly("vector");
        assertThat(names(json("/status.json", "from=1&count=1")
                        .getAsJsonObject("datasets")
                        .get("rows")))
                .containsExactly("images");
        assertThat(names(found.get("rows"))).containsExactly("images");
        assertThat(json("/status.json", "from=999999999")
                        .getAsJsonObject("datasets")
                        .getAsJsonArray("rows"))
                .isEmpty();
    }

    @Test
    void whatAHolderHoldsIsLeasedUntilItEnds() throws IOException {
        try (Larder larder = Larder.connect(store);
                Dataset held = larder.dataset("vector")) {
            await().untilAsserted(() ->
                    assertThat(dataset("vector").get("leased").getAsBoolean()).isTrue());
            assertThat(held.version())
                    .isEqualTo(dataset("vector").get("version").getAsLong());
        }
        await().untilAsserted(() ->
                assertThat(dataset("vector").get("leased").getAsBoolean()).isFalse());
    }

    private static JsonObject dataset(String name) throws IOException {
        return json("/status.json", "match=" + name)
                .getAsJsonObject("datasets")
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void aLookShowsRowsSumsAndAPicture() throws IOException {
        JsonObject look = json("/look.json", "name=images/data&rows=1");

        assertThat(look.get("text").getAsString()).startsWith("[[[ 0  1  2  3]");
        assertThat(look.get("max").getAsInt()).isEqualTo(159);
        assertThat(look.get("images").getAsInt()).isEqualTo(10);
        assertThat(look.getAsJsonObject("histogram").getAsJsonArray("counts")).hasSize(16);
        HttpURLConnection picture = ask("/look.png", "name=images/data");
        assertThat(picture.getContentType()).isEqualTo("image/png");
        assertThat(picture.getInputStream().readNBytes(4)).isEqualTo(new byte[] {(byte) 0x89, 'P', 'N', 'G'});
    }

    @ParameterizedTest
    @ValueSource(strings = {"nothing/here", "images", "", "../etc/passwd", "images/../vector/data", "empty/none"})
    void whatIsNotResidentIsNotFoundAndNotLoaded(String name) throws IOException {
        String query = "name=" + URLEncoder.encode(name, StandardCharsets.UTF_8);

        assertThat(ask("/look.json", query).getResponseCode()).isEqualTo(404);
        assertThat(ask("/look.png", query).getResponseCode()).isEqualTo(404);
        assertThat(ask("/look.png", "name=empty/data").getResponseCode()).isEqualTo(404);
    }

    @Test
    void rowsOfAColumnAreShownAndFilesThatAreImagesAsTheyAre() throws IOException {
        JsonObject part = json("/arrays.json", "dataset=pets").getAsJsonArray("rows").asList().stream()
                .map(JsonElement::getAsJsonObject)
                .filter(row -> row.get("columnKind").toString().equals("\"bytes\""))
                .findFirst()
                .orElseThrow();
        String name = "name=" + part.get("name").getAsString();

        JsonObject look = json("/look.json", name);

        assertThat(look.get("column").getAsString()).isEqualTo("bytes");
        assertThat(look.get("files").getAsInt()).isEqualTo(1);
        assertThat(look.get("text").getAsString()).startsWith("0  ").contains("\n1  ");
        HttpURLConnection image = ask("/look.file", name + "&row=0");
        assertThat(image.getContentType()).isEqualTo("image/png");
        assertThat(image.getInputStream().readAllBytes()).isEqualTo(PNG);
        for (String refused : List.of("&row=1", "&row=2", "&row=999999999")) {
            assertThat(ask("/look.file", name + refused).getResponseCode())
                    .as(refused)
                    .isEqualTo(404);
        }
        assertThat(ask("/look.file", "name=vector/data&row=0").getResponseCode())
                .isEqualTo(404);
    }

    @Test
    void filesThatOthersMayShortenAreNotLookedInto() throws IOException {
        HttpURLConnection refused = ask("/look.json", "name=mapped/m");

        assertThat(refused.getResponseCode()).isEqualTo(400);
        assertThat(new String(refused.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("outside of its store", "larder show mapped/m");
        assertThat(ask("/look.png", "name=mapped/m").getResponseCode()).isEqualTo(400);
    }

    @Test
    void nothingThatIsAskedChangesWhatThereIs() throws IOException {
        JsonObject before = json("/status.json", "");
        for (String path : List.of("/look.json", "/look.png", "/arrays.json")) {
            ask(path, "name=vector/data&dataset=vector").getResponseCode();
        }
        JsonObject after = json("/status.json", "");

        for (String key : List.of("datasets", "counters", "usedBytes", "errors", "loads", "space")) {
            assertThat(after.get(key)).as(key).isEqualTo(before.get(key));
        }
    }

    @Test
    void whereNothingHasChangedNothingIsSent() throws IOException {
        // What the machine has left changes between two questions where others use it.
        await().untilAsserted(() -> {
            String tag = ask("/status.json", "").getHeaderField("ETag");
            HttpURLConnection again = ask("/status.json", "");
            again.setRequestProperty("If-None-Match", tag);
            assertThat(again.getResponseCode()).isEqualTo(304);
        });
    }

    @Test
    void namesOfFilesAreDataAndThePageHasNoInlineScript() throws IOException {
        assertThat(dataset("named").getAsJsonArray("sources").get(0).getAsString())
                .contains("<img src=x onerror=");
        assertThat(ask("/status.json", "").getContentType()).isEqualTo("application/json");
        String html = read("/", "").replaceAll("\\s+", " ");
        String script = read("/page.js", "");

        assertThat(html).doesNotContainPattern("<script>|<style| style=| on[a-z]+=|javascript:");
        assertThat(script).doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/page.js", "/page.css", "/uplot.js", "/uplot.css", "/icon.svg"})
    void allThatThePageLoadsIsThere(String path) throws IOException {
        assertThat(read(path, "")).isNotBlank();
        assertThat(Files.readString(Path.of("src/main/resources/dev/larder/command/page/page.html")))
                .contains("\"" + path + "\"");
    }
}
