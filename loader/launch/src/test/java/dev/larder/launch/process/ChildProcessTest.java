package dev.larder.launch.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.LarderException;
import dev.larder.launch.process.ExitCause.Ended;
import dev.larder.launch.process.ExitCause.Exited;
import dev.larder.launch.process.ExitCause.NotStarted;
import dev.larder.launch.process.ExitCause.Signalled;
import dev.larder.testing.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChildProcessTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private final List<OutputLine> lines = Collections.synchronizedList(new ArrayList<>());

    private ProcessSpec shell(String script) {
        return ProcessSpec.of(List.of("sh", "-c", script), OutputRedirect.merged(folder.resolve("log"), lines::addAll));
    }

    private ExitCause run(ProcessSpec program) {
        try (ChildProcess child = ChildProcess.start(program)) {
            return child.await(PATIENCE).cause();
        }
    }

    private ExitCause run(String... words) {
        return run(ProcessSpec.of(List.of(words), OutputRedirect.discarded()));
    }

    private List<String> texts() {
        return lines.stream().map(OutputLine::text).toList();
    }

    private long saidPid() {
        await().atMost(PATIENCE).until(() -> !lines.isEmpty());
        return Long.parseLong(lines.get(0).text());
    }

    @Test
    void whatItWritesComesLineByLineAndStandsInTheLogByteForByte() throws IOException {
        ExitCause cause = run(shell("echo one; echo two >&2; printf '10%%\\r20%%\\r\\nlast'"));

        assertThat(cause).isEqualTo(new Exited(0));
        assertThat(texts()).containsExactly("one", "two", "10%", "20%", "last");
        assertThat(lines.get(2).isOverwritten()).isTrue();
        assertThat(folder.resolve("log")).hasContent("one\ntwo\n10%\r20%\r\nlast");
    }

    @Test
    void standardErrorCanBeKeptApart() {
        OutputRedirect apart = OutputRedirect.apart(folder.resolve("out"), folder.resolve("err"), lines::addAll);

        run(ProcessSpec.of(List.of("sh", "-c", "echo one; echo two >&2"), apart));

        assertThat(lines)
                .containsExactlyInAnyOrder(OutputLine.of("one", false, false), OutputLine.of("two", true, false));
        assertThat(folder.resolve("out")).hasContent("one");
        assertThat(folder.resolve("err")).hasContent("two");
    }

    @Test
    void noByteOfAFloodIsLost() throws IOException {
        run(shell("seq 1 200000; printf end"));

        assertThat(lines).hasSize(200_001);
        assertThat(texts()).contains("1", "200000").endsWith("end");
        assertThat(Files.readAllLines(folder.resolve("log"))).isEqualTo(texts());
    }

    @Test
    void aFullDiskUnderTheLogDoesNotHoldItUp() {
        ProcessSpec program = ProcessSpec.of(
                List.of("sh", "-c", "seq 1 100000"), OutputRedirect.merged(Path.of("/dev/full"), lines::addAll));
        try (ChildProcess child = ChildProcess.start(program)) {
            ProcessResult ending = child.await(PATIENCE);

            assertThat(ending.cause().isSuccess()).isTrue();
            assertThat(ending.outputTrouble()).contains("log: ").contains("space");
            assertThat(lines).hasSize(100_000);
        }
    }

    @Test
    void aReaderThatFailsDoesNotHoldItUp() {
        OutputRedirect failing = OutputRedirect.merged(null, line -> {
            throw new IllegalStateException("no more");
        });
        try (ChildProcess child = ChildProcess.start(ProcessSpec.of(List.of("seq", "1", "100000"), failing))) {
            ProcessResult ending = child.await(PATIENCE);

            assertThat(ending.cause().isSuccess()).isTrue();
            assertThat(ending.outputTrouble()).contains("no more");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "exit 0            | done              | 0",
                "exit 3            | exit code 3       | 3",
                "kill -SEGV $$     | killed by SIGSEGV | 139",
                "kill -KILL $$     | killed by SIGKILL | 137",
                "kill -BUS $$      | killed by SIGBUS  | 135",
                "exit 255          | exit code 255     | 255"
            })
    void saysWhatItEndedWith(String script, String text, int exitCode) {
        ExitCause cause = run(shell(script));

        assertThat(cause.text()).isEqualTo(text);
        assertThat(cause.exitCode()).isEqualTo(exitCode);
    }

    @Test
    void aProgramThatCannotBeStartedHasEndedWithTheReason() throws IOException {
        Path script = Files.writeString(folder.resolve("script"), "#!/absent/interpreter\n");
        Path plain = Files.writeString(folder.resolve("plain"), "");
        assertThat(script.toFile().setExecutable(true)).isTrue();

        assertThat(run("no-such-program-here"))
                .isEqualTo(new NotStarted(127, "no such program: command=no-such-program-here"));
        assertThat(run(plain.toString())).isEqualTo(new NotStarted(126, "not an executable file: command=" + plain));
        assertThat(run(folder.toString())).isInstanceOf(NotStarted.class);
        assertThat(run(ProcessSpec.of(List.of("true"), OutputRedirect.discarded())
                        .in(plain)))
                .isEqualTo(new NotStarted(126, "no such folder to run in: folder=" + plain));
        assertThat(run(script.toString()))
                .isInstanceOf(NotStarted.class)
                .extracting(ExitCause::exitCode)
                .isEqualTo(127);
        assertThat(run(ProcessSpec.of(List.of("true"), OutputRedirect.merged(folder.resolve("a/log"), lines::addAll))))
                .isInstanceOf(NotStarted.class);
    }

    @Test
    void itSeesTheEnvironmentTheFolderAndNoInput() {
        ProcessSpec program = shell("echo $COLOUR ${HOME-none}; pwd; cat; echo ${LARDER_FAMILY:+marked}")
                .in(folder);

        Map<String, @Nullable String> changes = new HashMap<>(Map.of("COLOUR", "blue"));
        changes.put("HOME", null);
        run(program.withEnvironment(changes));

        assertThat(texts()).containsExactly("blue none", folder.toString(), "marked");
    }

    @Test
    void itsPathIsTheOneItIsGiven() throws IOException {
        Path tool = Files.writeString(folder.resolve("tool"), "#!/bin/sh\necho found\n");
        assertThat(tool.toFile().setExecutable(true)).isTrue();
        ProcessSpec program = ProcessSpec.of(List.of("tool"), OutputRedirect.merged(null, lines::addAll));

        assertThat(run(program.withEnvironment(Map.of("PATH", folder.toString())))
                        .isSuccess())
                .isTrue();

        assertThat(texts()).containsExactly("found");
    }

    @Test
    void endingItEndsAllThatCameOfIt() {
        ProcessSpec family = shell(
                "setsid setsid sleep 600 & sleep 600 & echo $!; (setsid sh -c 'sleep 600 & sleep 600' &) ; exec sleep 600");
        try (ChildProcess child = ChildProcess.start(family)) {
            long sleeping = saidPid();

            child.end(EndReason.CANCELLED, PATIENCE);

            assertThat(child.await(PATIENCE).cause()).isEqualTo(new Ended(EndReason.CANCELLED, 143));
            assertThat(Processes.isRunning(sleeping)).isFalse();
        }
    }

    @Test
    void itIsAskedFirstAndMayTidyUp() {
        try (ChildProcess child =
                ChildProcess.start(shell("trap 'echo tidy; exit 0' TERM; echo $$; while :; do sleep 0.1; done"))) {
            saidPid();

            child.end(EndReason.DEADLINE, PATIENCE);

            assertThat(child.await(PATIENCE).cause()).isEqualTo(new Ended(EndReason.DEADLINE, 0));
            assertThat(texts()).endsWith("tidy");
        }
    }

    @Test
    void aSignalReachesAllProcessesOfTheGroup() {
        String kin = "sh -c 'trap \"echo kin; exit\" USR1; echo ready; while :; do sleep 0.05; done'";
        try (ChildProcess child =
                ChildProcess.start(shell("trap 'echo leader' USR1; " + kin + " & while :; do wait && exit; done"))) {
            await().until(() -> texts().contains("ready"));

            child.signal("USR1");

            child.await(PATIENCE);
            assertThat(texts()).contains("kin", "leader");
        }
    }

    @Test
    void oneThatIsDeafOrStoppedIsKilledAfterTheGrace() {
        try (ChildProcess child = ChildProcess.start(shell("trap '' TERM; echo $$; kill -STOP $$; sleep 600"))) {
            saidPid();

            child.end(EndReason.CANCELLED, Duration.ofMillis(100));

            assertThat(child.await(PATIENCE).cause()).isEqualTo(new Ended(EndReason.CANCELLED, 137));
        }
    }

    @Test
    void aSecondEndHastensTheFirst() {
        try (ChildProcess child = ChildProcess.start(shell("trap '' TERM; echo $$; while :; do sleep 600; done"))) {
            saidPid();
            child.end(EndReason.DEADLINE, Duration.ofHours(1));

            child.end(EndReason.CANCELLED, Duration.ZERO);

            assertThat(child.await(PATIENCE).cause()).isEqualTo(new Ended(EndReason.DEADLINE, 137));
        }
    }

    @Test
    void whatItLeavesRunningEndsWithIt(@TempDir Path folder) {
        ExitCause cause = run(
                shell("cd '" + folder + "'; (setsid sh -c 'trap \"\" TERM; echo $$; : >up; sleep 600; sleep 600' &); "
                        + "while [ ! -e up ]; do sleep 0.02; done; exit 5"));

        assertThat(cause).isEqualTo(new Exited(5));
        assertThat(Processes.isRunning(saidPid())).isFalse();
    }

    @Test
    void waitingForItIsBounded() {
        try (ChildProcess child = ChildProcess.start(shell("sleep 600"))) {
            assertThatThrownBy(() -> child.await(Duration.ofMillis(1)))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("process still runs: pid=" + child.pid());
            assertThat(child.isAlive()).isTrue();
        }
    }

    @Test
    void aKillFromOutsideReadsAsASignal() {
        try (ChildProcess child = ChildProcess.start(shell("echo $$; sleep 600"))) {
            ProcessHandle.of(saidPid()).orElseThrow().destroyForcibly();

            assertThat(child.await(PATIENCE).cause()).isEqualTo(new Signalled(9));
        }
    }
}
