package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Metrics and logs of daemons that run as users run them. */
class ServeMetricsTest {
    private static final Pattern ADDRESS =
            Pattern.compile("(?m)^Metrics: (http://127.0.0.1:\\d+/metrics\\?token=\\S+)$");

    @TempDir
    Path folder;

    private static URI address(CommandProcess daemon) {
        MatchResult found = ADDRESS.matcher(daemon.out()).results().findFirst().orElseThrow();
        return URI.create(found.group(1));
    }

    private static String read(URI address) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
        return new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void metricsTellWhatTheDaemonHasDone() throws Exception {
        Path source = Samples.vector(folder, "v", 5000);
        try (CommandProcess daemon = CommandProcess.serve("--http", "0", "--load", "v=" + source)) {
            daemon.ask("wait", "v");
            daemon.ask("wait", "nobody", "--timeout", "50ms");
            Process reader = Samples.reader(daemon.store().resolve("data/v/1/lease"));

            assertThat(read(address(daemon)))
                    .contains(
                            "larder_loads_total{outcome=\"done\"} 1.0",
                            "larder_asks_total{outcome=\"hit\"} 1.0",
                            "larder_asks_total{outcome=\"late\"} 1.0",
                            "larder_wait_seconds_count 1",
                            "larder_clients 1.0",
                            "larder_version_clients{dataset=\"v\",state=\"resident\",version=\"1\"} 1.0")
                    .containsPattern("larder_leased_bytes [1-9]");
            reader.destroyForcibly().waitFor();
        }
    }

    @Test
    void thePortAndTheTokenEndWithTheDaemon() {
        try (CommandProcess daemon = CommandProcess.serve("--http", "0", "--keep")) {
            URI address = address(daemon);
            assertThat(daemon.store().resolve("http.token"))
                    .content()
                    .contains(address.getQuery().substring(6));
            assertThat(daemon.signal("TERM").exitCode()).isZero();

            assertThatThrownBy(() -> read(address)).isInstanceOf(IOException.class);
            assertThat(daemon.store().resolve("http.token")).doesNotExist();
            CommandProcess.serveOn(daemon.store()).close();
        }
    }

    @Test
    void aTokenInAFileIsTheSameAtEveryStart() throws IOException {
        String[] options = {
            "--http", "0", "--http-token-file", folder.resolve("token").toString()
        };
        try (CommandProcess first = CommandProcess.serve(options);
                CommandProcess second = CommandProcess.serve(options)) {
            assertThat(address(second).getQuery()).isEqualTo(address(first).getQuery());
            assertThat(folder.resolve("token"))
                    .content()
                    .contains(address(first).getQuery().substring(6));
            assertThat(read(address(second))).contains("larder_capacity_bytes");
        }
        assertThat(folder.resolve("token")).exists();
    }

    @Test
    void aTokenThatOthersCanReadEndsTheStartAndLeavesNothing() throws IOException {
        Path token = Files.writeString(folder.resolve("token"), "0123456789abcdef");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-r--r--"));
        try (CommandProcess daemon =
                CommandProcess.start("serve", "--http", "0", "--http-token-file", token.toString())) {
            assertThat(daemon.exitCode()).isEqualTo(7);
            assertThat(daemon.err()).startsWith("larder: the file of the token for HTTP is not safe: file=" + token);
            assertThat(daemon.store()).doesNotExist();
        }
    }

    @Tag("slow")
    @Test
    void aPortThatIsTakenEndsWith7AndLeavesNothing() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                CommandProcess daemon = CommandProcess.start("serve", "--http", "" + taken.getLocalPort())) {
            assertThat(daemon.exitCode()).isEqualTo(7);
            assertThat(daemon.err()).startsWith("larder: cannot listen for HTTP: port=" + taken.getLocalPort());
            assertThat(daemon.store()).doesNotExist();
        }
    }

    @Test
    void everyLineOfAJsonLogIsAnObjectAlsoWhereTheStartFails() throws IOException {
        Path bad = Files.writeString(folder.resolve("bad.npy"), "not numpy");
        try (CommandProcess daemon =
                CommandProcess.start("serve", "--log-json", "--strict-loads", "--load", "d=" + bad)) {
            assertThat(daemon.exitCode()).isEqualTo(6);

            List<JsonObject> lines = daemon.err()
                    .lines()
                    .map(line -> JsonParser.parseString(line).getAsJsonObject())
                    .toList();
            assertThat(lines).isNotEmpty();
            assertThat(lines.get(lines.size() - 1).get("message").getAsString()).contains("bad.npy");
        }
    }

    @Test
    void aJsonLogHasAllThatTheDaemonWouldPrintButTheToken() throws IOException {
        String bad = "bad=" + Files.writeString(folder.resolve("bad.npy"), "not numpy");
        String good = "good=" + Samples.vector(folder, "v", 10);
        try (CommandProcess daemon = CommandProcess.start(
                "serve", "--log-json", "--log-level", "info", "--http", "0", "--load", bad, "--load", good)) {
            daemon.awaitErr("Done caching: 1 of 2 datasets; not loaded: bad;");
            String token =
                    Files.readString(daemon.store().resolve("http.token")).strip();
            daemon.signal("TERM").exitCode();

            assertThat(daemon.out()).isEmpty();
            assertThat(daemon.err()).contains("status page: http://127.0.0.1:").doesNotContain(token);
            assertThat(daemon.err()
                            .lines()
                            .map(line -> JsonParser.parseString(line).getAsJsonObject()))
                    .allSatisfy(line -> assertThat(line.keySet()).contains("time", "level", "message"))
                    .filteredOn(line -> line.get("level").getAsString().equals("error"))
                    .singleElement()
                    .satisfies(line ->
                            assertThat(line.get("message").getAsString()).startsWith("not loaded: bad: "));
        }
    }

    @Test
    void aSourceThatFailsTogetherWithOthersAndAloneIsOneFailure() throws IOException {
        String bad = "bad=" + Files.writeString(folder.resolve("bad.npy"), "not numpy");
        String good = "good=" + Samples.vector(folder, "v", 10);
        try (CommandProcess daemon = CommandProcess.start("serve", "--http", "0", "--load", bad, "--load", good)
                .awaitOut("Done caching: 1 of 2")) {
            assertThat(read(address(daemon)))
                    .contains("larder_loads_total{outcome=\"failed\"} 1.0", "larder_loads_total{outcome=\"done\"} 1.0");
        }
    }

    @Tag("slow")
    @Test
    void logLinesHaveTimeAndLevelAndTellAsMuchAsIsAskedFor() {
        Path source = Samples.vector(folder, "v", 10);
        try (CommandProcess daemon = CommandProcess.serve("--log-level", "info")) {
            daemon.ask("load", "v=" + source);

            daemon.awaitErr("published: datasets=[v] ms=");
            assertThat(daemon.err()).matches("(?s)\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3} INFO  .*");
        }
    }
}
