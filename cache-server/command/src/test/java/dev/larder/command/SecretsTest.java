package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the daemon and the launcher know, and must not write anywhere that others read. */
class SecretsTest {
    private static final String SECRET = "kX9-do-not-tell-this-to-anybody-41";
    private static final String OTHER_SECRET = "pQ7-nor-this-one-to-anybody-at-all-42";

    @TempDir
    Path folder;

    @Test
    void theTokenIsInItsFileAndInThePrintedAddressAndNowhereElse() throws IOException {
        Path source = Samples.vector(folder, "v", 5000);
        try (CommandProcess daemon =
                CommandProcess.serve("--http", "0", "--log-level", "debug", "--load", "v=" + source)) {
            Matcher address = Pattern.compile("(?m)^Status page: (http://\\S+/)\\?token=(\\S+)$")
                    .matcher(daemon.out());
            assertThat(address.find()).isTrue();
            String token = address.group(2);
            assertThat(get(address.group(1) + "status.json?token=" + token)).isEqualTo(200);
            assertThat(get(address.group(1) + "status.json?token=" + token + "x"))
                    .isEqualTo(401);
            assertThat(get(address.group(1) + "no-such-page?token=" + token)).isEqualTo(404);
            daemon.ask("load", "v=/no/such/source");

            assertThat(daemon.err()).isNotEmpty().doesNotContain(token);
            assertThat(words(daemon.pid())).doesNotContain(token);
            assertThat(daemon.ask("errors", "--debug").out()).doesNotContain(token);
            assertThat(daemon.ask("status", "--json").out()).doesNotContain(token);
            assertThat(filesWith(daemon.store(), token))
                    .containsExactly(daemon.store().resolve("http.token"));
        }
    }

    private static int get(String address) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(address).toURL().openConnection();
        connection.setReadTimeout(20_000);
        try {
            return connection.getResponseCode();
        } finally {
            connection.disconnect();
        }
    }

    @Test
    void whoComesWithAnotherSecretLearnsNothingOfTheRightOneNorTellsItsOwn() throws IOException {
        String[] launch = launch("--rdzv-timeout", "4s", "--join-timeout", "3s", "-n=1", "--", "true");
        try (CommandProcess one = nodeWith(SECRET, launch);
                CommandProcess two = nodeWith(OTHER_SECRET, launch)) {
            for (CommandProcess node : List.of(one, two)) {
                assertThat(node.exitCode()).isNotZero();
                assertThat(node.out() + node.err()).doesNotContain(SECRET).doesNotContain(OTHER_SECRET);
            }
            assertThat(one.err() + two.err()).contains("secret");
        }
    }

    private static String[] launch(String... more) throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        return Stream.concat(Stream.of("launch", "--nnodes=2", "--rdzv-endpoint=localhost:" + port), Stream.of(more))
                .toArray(String[]::new);
    }

    private CommandProcess nodeWith(String secret, String... launch) throws IOException {
        return CommandProcess.by(
                List.of("env", "LARDER_COMMAND=" + CommandProcess.script(folder), "LARDER_RDZV_SECRET=" + secret),
                LeavesNothingBehind.newStore(),
                launch);
    }

    private static String words(long pid) throws IOException {
        return Files.readString(Path.of("/proc/" + pid + "/cmdline"), StandardCharsets.ISO_8859_1);
    }

    private static List<Path> filesWith(Path folder, String text) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> read(file).contains(text))
                    .toList();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
