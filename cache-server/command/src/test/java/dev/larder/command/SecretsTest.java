package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
            assertThat(daemon.ask("status", "--json").out())
                    .contains("\"statusPage\": \"" + address.group(1) + "\"")
                    .doesNotContain(token);
            assertThat(daemon.ask("status").out())
                    .contains("status page " + address.group(1) + "?token=TOKEN (TOKEN is in " + daemon.store()
                            + "/http.token)")
                    .doesNotContain(token);
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
    void theSecretOfARunIsInTheEnvironmentOfLaunchersAndRanksAlone() throws IOException {
        Path secretFile = Files.writeString(folder.resolve("secret"), SECRET);
        assertThat(secretFile.toFile().setReadable(false, false)
                        && secretFile.toFile().setReadable(true, true))
                .isTrue();
        String[] launch = launch(
                "--data=v=" + Samples.vector(folder, "v", 5000),
                "--log-dir=" + folder.resolve("logs"),
                "-n=1",
                "--",
                "sh",
                "-c",
                "cd '" + folder + "'; echo here; touch up-$RANK; until [ -e go ]; do sleep 0.05; done");
        String[] launchByFile = Stream.concat(
                        Stream.of("launch", "--rdzv-secret-file=" + secretFile),
                        Stream.of(launch).skip(1))
                .toArray(String[]::new);
        try (CommandProcess one = nodeWith(SECRET, launch);
                CommandProcess two = nodeWith("", launchByFile)) {
            List<CommandProcess> nodes = List.of(one, two);
            awaitRanksOf(nodes);

            assertThat(processesWith("environ"))
                    .as("two ranks, and the launcher that was told so")
                    .hasSizeGreaterThanOrEqualTo(3);
            assertThat(processesWith("cmdline")).isEmpty();
            assertThat(filesWith(folder, SECRET)).containsExactly(secretFile);
            assertThat(filesWith(folder.resolve("logs"), "here")).hasSize(2);
            for (CommandProcess node : nodes) {
                assertThat(node.store().resolve("data/v/1/manifest.json")).exists();
                assertThat(filesWith(node.store(), SECRET)).isEmpty();
            }
            Files.createFile(folder.resolve("go"));
            for (CommandProcess node : nodes) {
                assertThat(node.exitCode()).as(node.err()).isZero();
                assertThat(node.out() + node.err()).contains("larder: ").doesNotContain(SECRET);
            }
        }
    }

    private void awaitRanksOf(List<CommandProcess> nodes) {
        await("ranks").until(() -> areUp() || nodes.stream().anyMatch(node -> !isAlive(node)));
        nodes.forEach(node -> assertThat(isAlive(node)).as(node.err()).isTrue());
    }

    private boolean areUp() {
        return Files.exists(folder.resolve("up-0")) && Files.exists(folder.resolve("up-1"));
    }

    private static boolean isAlive(CommandProcess node) {
        return ProcessHandle.of(node.pid()).map(ProcessHandle::isAlive).orElse(false);
    }

    /** Lists processes of this user in whose environment or arguments the secret stands. */
    private static List<Long> processesWith(String file) {
        return ProcessHandle.allProcesses()
                .map(ProcessHandle::pid)
                .filter(pid -> {
                    try {
                        return Files.readString(Path.of("/proc/" + pid, file), StandardCharsets.ISO_8859_1)
                                .contains(SECRET);
                    } catch (IOException endedOrOfAnother) {
                        return false;
                    }
                })
                .toList();
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
