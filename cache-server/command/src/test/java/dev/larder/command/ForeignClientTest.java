package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that speak Varlink and know nothing of Larder use a daemon. */
class ForeignClientTest {
    private static final Path GO_PATH = Path.of("/usr/share/gocode");
    private static final Path GO_LIBRARY = GO_PATH.resolve("src/github.com/varlink/go");

    @TempDir
    Path folder;

    private CommandProcess daemon;
    private Path source;

    @BeforeEach
    void serve() {
        daemon = CommandProcess.serve();
        source = Samples.vector(folder, "v", 5000);
    }

    @AfterEach
    void stop() {
        daemon.close();
    }

    private String socket() {
        return daemon.store().resolve("control.sock").toString();
    }

    private String run(Map<String, String> environment, Path input, String... words) throws Exception {
        Path out = Files.createTempFile(folder, "foreign", ".out");
        ProcessBuilder builder = new ProcessBuilder(words)
                .redirectInput(input.toFile())
                .redirectOutput(out.toFile())
                .redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        String text = Files.readString(out);
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    /** Sends calls on one connection, and returns all answers. */
    private List<JsonObject> socat(String... calls) throws Exception {
        Path input = Files.writeString(folder.resolve("calls"), String.join("\0", calls) + "\0");
        return Stream.of(run(Map.of(), input, "socat", "-t", "60", "-", "UNIX-CONNECT:" + socket())
                        .split("\0", -1))
                .filter(text -> !text.isEmpty())
                .map(text -> JsonParser.parseString(text).getAsJsonObject())
                .toList();
    }

    @Test
    void socatLoadsWaitsAndLists() throws Exception {
        List<JsonObject> answers = socat(
                "{\"method\":\"dev.larder.Store.Load\",\"parameters\":{\"sources\":[{\"name\":\"digits\",\"path\":\""
                        + source + "\"}]}}",
                "{\"method\":\"dev.larder.Store.Wait\",\"parameters\":{\"name\":\"digits\",\"timeoutMs\":60000}}",
                "{\"method\":\"dev.larder.Store.List\"}",
                "{\"method\":\"dev.larder.Store.Info\",\"parameters\":{\"name\":\"digit\"}}");

        assertThat(answers).hasSize(4);
        assertThat(answers.get(0))
                .hasToString("{\"parameters\":{\"done\":{\"files\":1,\"bytes\":5000,\"heldBytes\":0,"
                        + "\"holders\":\"\",\"message\":\"\"}}}");
        assertThat(answers.get(1).toString()).contains("\"done\":{\"files\":1,");
        assertThat(answers.get(2).toString()).contains("\"name\":\"digits/v\",\"dtype\":\"|u1\",\"shape\":[5000]");
        assertThat(answers.get(3).get("error").getAsString()).isEqualTo("dev.larder.Store.NotFound");
        assertThat(answers.get(3).toString()).contains("\"remedy\":\"did you mean digits?");
    }

    @Test
    void aLibraryOfAnotherLanguageReadsTheInterfaceListsLoadsAndWaits() throws Exception {
        Assumptions.assumeTrue(
                Files.isDirectory(GO_LIBRARY) && Files.isExecutable(Path.of("/usr/bin/go")),
                "no Varlink for Go (apt-get install golang-go golang-github-varlink-go-dev)");
        Map<String, String> go = Map.of(
                "GO111MODULE",
                "off",
                "GOPATH",
                GO_PATH.toString(),
                "GOCACHE",
                folder.resolve("cache").toString());
        Path description = folder.resolve("dev.larder.Store.varlink");

        String printed = run(
                go,
                Path.of("/dev/null"),
                "go",
                "run",
                Path.of("src/test/go/varlink-client.go").toAbsolutePath().toString(),
                socket(),
                source.toString(),
                description.toString());

        assertThat(printed).isEqualTo("""
                Larder [org.varlink.service dev.larder.Store]
                loaded 1 5000
                resident 1
                digits/v |u1 [5000] resident
                dev.larder.Store.NotFound
                """);
        // its parser has no capitals in names of interfaces, as those of systemd have
        String lower =
                Files.readString(description).replace("interface dev.larder.Store", "interface dev.larder.store");
        Files.writeString(description, lower);
        run(
                go,
                Path.of("/dev/null"),
                "go",
                "run",
                "github.com/varlink/go/cmd/varlink-go-interface-generator",
                description.toString());
        assertThat(generated()).anyMatch(file -> file.endsWith(".go"));
    }

    private List<String> generated() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(Path::toString).toList();
        }
    }
}
