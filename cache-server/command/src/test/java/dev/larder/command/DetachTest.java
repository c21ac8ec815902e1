package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonParser;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DetachTest {
    @TempDir
    Path folder;

    private final Path store = LeavesNothingBehind.newStore();

    @AfterEach
    void endTheDaemonOfATestThatFailed() {
        if (Files.exists(store)) {
            Answer.of(store, "stop");
        }
    }

    /** Starts a daemon as {@code ops/larder} does, from a shell that holds a lock. */
    private CommandProcess detach(String... arguments) {
        String[] words = Stream.concat(Stream.of("serve", "--detach"), Stream.of(arguments))
                .toArray(String[]::new);
        String script = "exec 9>'" + folder.resolve("lock") + "'; flock 9; source ../../ops/launcher; detach \"$@\"";
        return CommandProcess.by(List.of("bash", "-euo", "pipefail", "-c", script, "detach"), store, words);
    }

    private static ProcessHandle daemonOf(CommandProcess command) {
        String status = command.ask("status", "--json").out();
        long pid = JsonParser.parseString(status).getAsJsonObject().get("pid").getAsLong();
        return ProcessHandle.of(pid).orElseThrow();
    }

    private static void awaitEnd(ProcessHandle process) {
        await().until(() -> !process.isAlive());
    }

    @Test
    void returnsWhenEverythingIsLoadedAndServesOn() {
        Path source = Samples.vector(folder, "v", 1000);
        try (CommandProcess command = detach("--load", "v=" + source)) {
            assertThat(command.exitCode()).isZero();
            assertThat(command.out()).contains("Done caching.");
            assertThat(command.ask("ls").out()).contains("v/v");
            ProcessHandle daemon = daemonOf(command);
            assertThat(daemon.pid()).isNotEqualTo(command.pid());

            assertThat(command.ask("stop").code()).isZero();
            awaitEnd(daemon);
            assertThat(command.store()).doesNotExist();
        }
    }

    @Test
    void theDaemonLetsGoOfTerminalAndStreams() throws IOException {
        try (CommandProcess command = detach()) {
            assertThat(command.exitCode()).isZero();
            ProcessHandle daemon = daemonOf(command);

            for (int stream = 0; stream <= 2; stream++) {
                Path descriptor = Path.of("/proc", Long.toString(daemon.pid()), "fd", Integer.toString(stream));
                assertThat(descriptor.toRealPath()).isEqualTo(Path.of("/dev/null"));
            }
            daemon.destroy();
            awaitEnd(daemon);
            assertThat(command.store()).doesNotExist();
        }
    }

    @Test
    void whatTheDaemonLogsInTheBackgroundGoesToTheFileThatWasNamed() throws IOException {
        Path log = folder.resolve("larder.log");
        try (CommandProcess command = detach("--log-level", "info", "--log-file", log.toString())) {
            assertThat(command.exitCode()).as(command.err()).isZero();
            ProcessHandle daemon = daemonOf(command);

            command.ask("stop");
            awaitEnd(daemon);

            assertThat(log).content().contains("INFO", "stopping: store=" + command.store());
        }
    }

    @Test
    void aFileThatCannotBeLoggedToIsRefused() {
        try (CommandProcess command = CommandProcess.start("serve", "--log-file", folder.toString())) {
            assertThat(command.exitCode()).isEqualTo(6);
            assertThat(command.err()).contains("cannot log to the file: file=" + folder);
        }
    }

    @Test
    void aFailureIsSeenHereAndLeavesNothing() {
        try (CommandProcess command = detach("--strict-loads", "--load", "a=/does/not/exist")) {
            assertThat(command.exitCode()).isEqualTo(6);
            assertThat(command.err()).contains("larder: ").contains("/does/not/exist");
            assertThat(command.store()).doesNotExist();
        }
    }

    @Test
    void whatCannotBeLoadedIsSaidHereBeforeItServesOn() {
        try (CommandProcess command = detach("--load", "a=/does/not/exist")) {
            assertThat(command.exitCode()).isZero();
            assertThat(command.err()).contains("larder: not loaded: a\n", "/does/not/exist");
            assertThat(command.out())
                    .contains("Done caching: 0 of 1 datasets; not loaded: a;")
                    .doesNotContain("caching.");
            ProcessHandle daemon = daemonOf(command);

            command.ask("stop");
            awaitEnd(daemon);
        }
    }

    @Test
    void whoeverCapturesTheOutputDoesNotWaitForTheDaemon() throws IOException {
        try (CommandProcess command = detach()) {
            assertThat(command.exitCode()).isZero();
            ProcessHandle daemon = daemonOf(command);

            try (Stream<Path> descriptors = Files.list(Path.of("/proc", Long.toString(daemon.pid()), "fd"))) {
                assertThat(descriptors.map(DetachTest::target)).noneMatch(target -> target.startsWith("pipe:"));
            }
            command.ask("stop");
            awaitEnd(daemon);
        }
    }

    @Tag("slow")
    @Test
    void aLockOfTheCallersEndsWithTheCaller() throws IOException, InterruptedException {
        try (CommandProcess command = detach()) {
            assertThat(command.exitCode()).isZero();
            ProcessHandle daemon = daemonOf(command);

            Process lock =
                    new ProcessBuilder("flock", "-n", folder.resolve("lock").toString(), "true").start();
            assertThat(lock.waitFor()).isZero();
            command.ask("stop");
            awaitEnd(daemon);
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "closed meanwhile";
        }
    }

    @Tag("slow")
    @Test
    void stoppedBeforeItIsReadyItDoesNotCountAsStarted() {
        Path large = Samples.large(folder, 512L << 20);
        try (CommandProcess command = detach("--load", "large=" + large)) {
            command.awaitErr("loading");
            assertThat(command.ask("stop").code()).isZero();

            assertThat(command.exitCode()).isEqualTo(130);
            assertThat(command.store()).doesNotExist();
        }
    }

    @Test
    void withoutItsScriptItSaysWhatToStart() {
        try (CommandProcess command = CommandProcess.start("serve", "--detach")) {
            assertThat(command.exitCode()).isEqualTo(2);
            assertThat(command.err()).contains("start the daemon with ops/larder");
        }
    }

    @Test
    void ctrlCWhileItLoadsStopsBothProcesses() {
        Path large = Samples.large(folder, 512L << 20);
        try (CommandProcess command = detach("--load", "large=" + large)) {
            command.awaitErr("loading");

            assertThat(command.signal("INT").exitCode()).isEqualTo(130);
            assertThat(command.ask("status").code()).isEqualTo(3);
            assertThat(command.store()).doesNotExist();
        }
    }
}
