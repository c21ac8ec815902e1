package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(LeavesNothingBehind.class)
final class DemoTest {
    private static final Pattern READER = Pattern.compile("  pid (\\d+) +40,000 rows in \\d+ ms");

    private final Path store = LeavesNothingBehind.newStore();

    @TempDir
    Path folder;

    @AfterEach
    void nothingIsLeft() throws IOException {
        assertThat(store).doesNotExist();
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(Path::getFileName).map(Path::toString))
                    .containsOnlyOnce("larder")
                    .allMatch(name -> !name.startsWith("larder-demo"));
        }
    }

    private CommandProcess demo() throws IOException {
        Path script = CommandProcess.script(folder);
        return CommandProcess.by(
                List.of("env", "LARDER_COMMAND=" + script, "JAVA_TOOL_OPTIONS=-Djava.io.tmpdir=" + folder),
                store,
                "demo");
    }

    private static List<Long> readers(String out) {
        return READER.matcher(out).results().map(DemoTest::pid).toList();
    }

    private static long pid(MatchResult reader) {
        return Long.parseLong(reader.group(1));
    }

    private static void awaitEnd(List<Long> pids) {
        await().atMost(Duration.ofMinutes(1))
                .until(() ->
                        pids.stream().noneMatch(pid -> ProcessHandle.of(pid).isPresent()));
    }

    @Test
    void fourReadersShareOneCopy() throws IOException {
        try (CommandProcess demo = demo()) {
            assertThat(demo.exitCode()).as(demo.err()).isZero();

            List<Long> readers = readers(demo.out());
            assertThat(readers).doesNotHaveDuplicates().hasSize(4);
            awaitEnd(readers);
            // less than 30 MiB if the daemon, which moves data to huge pages, maps pages at the same time
            assertThat(demo.out()).containsPattern("all of them together map (2[4-9]|30)\\.\\d MiB, one copy");
        }
    }

    @Test
    void anInterruptEndsTheDaemonAndTheReaders() throws IOException {
        try (CommandProcess demo = demo()) {
            demo.awaitOut("JVMs read all rows").signal("INT");

            assertThat(demo.exitCode()).isNotZero();
            awaitEnd(readers(demo.out()));
        }
    }

    @Tag("slow")
    @Test
    void afterAKillTheReadersEndSoThatTheDaemonIsUnused() throws IOException {
        try (CommandProcess demo = demo()) {
            demo.awaitOut("JVMs read all rows").signal("KILL");
            demo.exitCode();

            Answer stopped = Answer.of(store, "stop", "--wait", "1m");

            assertThat(stopped.code()).as(stopped.err()).isZero();
        }
    }

    @Test
    void aStoreThatExistsIsLeftAlone() throws IOException {
        try (CommandProcess daemon = CommandProcess.serveOn(store, "--load", "d=" + Samples.vector(folder, "a", 3))) {
            daemon.ask("stop", "--keep");
            daemon.exitCode();
        }

        try (CommandProcess demo = demo()) {
            assertThat(demo.exitCode()).isEqualTo(7);
            assertThat(demo.err()).contains("the store of the demo exists: store=" + store);
        }

        try (CommandProcess daemon = CommandProcess.serveOn(store)) {
            assertThat(daemon.ask("ls").out()).contains("d/a");
        }
    }
}
