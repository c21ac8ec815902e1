package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.testing.DefaultSignals;
import dev.larder.testing.LeavesNothingBehind;
import dev.larder.testing.Processes;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Launches ranks, and kills, stops and floods whatever takes part. */
class LaunchTest {
    /** A rank with a child and a daemon, all deaf to polite signals; says the pids of the three. */
    private static final String DEAF_FAMILY = "trap '' TERM INT HUP; sleep 600 & echo pid $!;"
            + " (setsid sh -c 'trap \"\" TERM INT HUP; echo pid $$; while :; do sleep 600; done' &);"
            + " echo pid $$; while :; do wait; done";

    private static final Pattern PID = Pattern.compile("pid (\\d+)");
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @TempDir
    Path folder;

    private static CommandProcess launch(String script, String... options) {
        List<String> arguments = new ArrayList<>(List.of("launch", "-n", "2"));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of("--", "sh", "-c", script));
        return CommandProcess.onStore(LeavesNothingBehind.newStore(), arguments.toArray(String[]::new));
    }

    private static List<Long> pids(CommandProcess launch, int count) {
        return await().atMost(PATIENCE).until(() -> pids(launch.out()), pids -> pids.size() == count);
    }

    private static List<Long> pids(String text) {
        return PID.matcher(text)
                .results()
                .map(found -> Long.valueOf(found.group(1)))
                .toList();
    }

    @Test
    void linesCarryTheirRankAndStandardOutputHasNothingElse() {
        try (CommandProcess launch = launch("echo out $WORLD_SIZE; echo err >&2")) {
            assertThat(launch.exitCode()).isZero();
            assertThat(launch.out().lines()).containsExactlyInAnyOrder("[0] out 2", "[1] out 2");
            assertThat(launch.err())
                    .contains("[0] err\n", "[1] err\n")
                    .contains("larder: launching 2 ranks: masterPort=");
        }
    }

    @Test
    void bytesThatAreNoTextAreShownAsTheyAre() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        CommandProcess.script(folder).toString(),
                        "launch",
                        "-q",
                        "--",
                        "printf",
                        "\\377\\300a\\n\\303\\274")
                .start();

        assertThat(process.getInputStream().readAllBytes())
                .isEqualTo("[0] \u00ff\u00c0a\n[0] \u00c3\u00bc\n".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void manyLinesOfManyRanksStayWholeAndInTheirOrder() {
        try (CommandProcess launch = launch("seq 20000", "-q")) {
            assertThat(launch.exitCode()).as(launch.err()).isZero();
            for (int rank = 0; rank < 2; rank++) {
                String prefix = "[" + rank + "] ";
                assertThat(launch.out().lines().filter(line -> line.startsWith(prefix)))
                        .containsExactlyElementsOf(IntStream.rangeClosed(1, 20_000)
                                .mapToObj(number -> prefix + number)
                                .toList());
            }
            assertThat(launch.out().lines()).hasSize(40_000);
        }
    }

    @Test
    void theExitCodeIsThatOfTheRankThatFailedFirst() {
        try (CommandProcess launch = launch("[ $RANK = 1 ] && echo dismal && exit 37; exec sleep 600")) {
            assertThat(launch.exitCode()).isEqualTo(37);
            assertThat(launch.err())
                    .contains("larder: a rank failed: rank=1 pid=")
                    .contains("cause=exit code 37")
                    .contains("larder:   [1] dismal");
        }
    }

    @Test
    void aKilledRankEndsTheOthersAndGivesItsSignal() {
        try (CommandProcess launch = launch("echo pid $$; exec sleep 600")) {
            List<Long> pids = pids(launch, 2);
            Processes.signal("KILL", pids.get(0));

            assertThat(launch.exitCode()).isEqualTo(137);
            assertThat(launch.err()).contains("SIGKILL");
            pids.forEach(Processes::awaitGone);
        }
    }

    @Test
    void everythingDiesWithALaunchThatIsKilled() {
        try (CommandProcess launch = launch(DEAF_FAMILY)) {
            List<Long> pids = pids(launch, 6);

            launch.kill();

            pids.forEach(Processes::awaitGone);
        }
    }

    @Test
    void ctrlCAsksAndRanksThatEndInOrderSaySo() {
        try (CommandProcess launch =
                launch("trap 'echo saved; exit 0' INT; echo pid $$; while :; do sleep 0.05; done")) {
            pids(launch, 2);
            launch.signal("INT");

            assertThat(launch.exitCode()).isEqualTo(130);
            assertThat(launch.out()).contains("[0] saved", "[1] saved");
            assertThat(launch.err()).contains("asking the ranks to end").doesNotContain("a rank failed");
        }
    }

    @Test
    void aSecondCtrlCKillsRanksThatDoNotListen() {
        try (CommandProcess launch = launch(DEAF_FAMILY, "--grace=60s")) {
            List<Long> pids = pids(launch, 6);
            launch.signal("INT").awaitErr("asking the ranks to end");
            launch.signal("INT").awaitErr("killing the ranks");

            assertThat(launch.exitCode()).isEqualTo(130);
            assertThat(pids).noneMatch(Processes::isRunning);
        }
    }

    @Test
    void ctrlCReachesARankThatIsStopped() {
        try (CommandProcess launch = launch("echo pid $$; exec sleep 600", "--grace=4s")) {
            List<Long> pids = pids(launch, 2);
            Processes.signal("STOP", pids.get(1));
            launch.signal("INT");

            assertThat(launch.exitCode()).isEqualTo(130);
            assertThat(pids).noneMatch(Processes::isRunning);
        }
    }

    @Test
    void terminationIsPassedOn() {
        try (CommandProcess launch =
                launch("trap 'echo asked; exit 0' TERM; echo pid $$; while :; do sleep 0.05; done")) {
            pids(launch, 2);
            launch.signal("TERM");

            assertThat(launch.exitCode()).isEqualTo(143);
            assertThat(launch.out()).contains("[0] asked", "[1] asked");
        }
    }

    @Test
    void filesKeepTheOutputOfEveryRankAndAttempt() throws IOException {
        String script = "echo out $RANK; echo err $RANK >&2; [ $RANK = 1 ] || sleep 0.5; exit $((1 - LARDER_ATTEMPT))";
        Path logs = folder.resolve("logs");
        try (CommandProcess launch = launch(script, "--max_restarts", "1", "--log-dir", logs.toString(), "-r", "1:3")) {
            assertThat(launch.exitCode()).as(launch.err()).isZero();
            assertThat(launch.out()).contains("[0] out 0").doesNotContain("[1]");
        }
        try (var runs = Files.list(logs)) {
            Path run = runs.toList().get(0);
            assertThat(run.resolve("attempt_0/1/stdout.log")).hasContent("out 1");
            assertThat(run.resolve("attempt_1/1/stderr.log")).hasContent("err 1");
            assertThat(run.resolve("attempt_0/0/stdout.log")).doesNotExist();
        }
    }

    @Test
    void restartsAreToldOfWithTheirNumber() {
        try (CommandProcess launch = launch("exit $((3 - 3 * LARDER_ATTEMPT))", "--max-restarts=2")) {
            assertThat(launch.exitCode()).isZero();
            assertThat(launch.err())
                    .contains("larder: attempt 1 of 3 failed after ")
                    .contains("restarting all ranks");
        }
    }

    @Test
    void rankZeroReadsStandardInputAndTheOthersNothing() {
        try (CommandProcess launch = launch("cat; echo end", "--no-prefix", "--quiet")) {
            launch.say("data").hangUp();

            assertThat(launch.exitCode()).isZero();
            assertThat(launch.out().lines()).containsExactlyInAnyOrder("data", "end", "end");
            assertThat(launch.err()).isEmpty();
        }
    }

    @Test
    void ranksEndWhenNobodyReadsWhatTheySay() throws IOException, InterruptedException {
        Path script = CommandProcess.script(folder);
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        script
                                + " launch -n 2 -q -- sh -c 'exec 2>/dev/null; while echo line; do sleep 0.02; done' | head -n 1")
                .redirectErrorStream(true)
                .start();

        try {
            assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .matches("\\[[01]\\] line\n");
            assertThat(process.waitFor()).isZero();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
        }
    }

    @Test
    void aThirdCtrlCEndsACommandWhoseOutputNobodyTakes() throws IOException, InterruptedException {
        Path err = folder.resolve("err");
        String deaf = "trap '' INT; echo up >&2; exec yes";
        Process process = new ProcessBuilder(DefaultSignals.of(List.of(
                        CommandProcess.script(folder).toString(), "launch", "--grace=60s", "--", "sh", "-c", deaf)))
                .redirectError(err.toFile())
                .start();
        try {
            for (String text : List.of("up", "asking the ranks", "killing the ranks")) {
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(err).content().contains(text));
                Processes.signal("INT", process.pid());
            }

            assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(130);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void aPythonScriptFindsWhatTorchWouldAskFor() {
        String script =
                "import os; e = os.environ; print(e['RANK'], e['WORLD_SIZE'], e['LOCAL_RANK'], e['MASTER_ADDR'],"
                        + " int(e['MASTER_PORT']) > 0, e['TORCHELASTIC_RUN_ID'], e.get('LARDER_STORE'))";
        Path store = LeavesNothingBehind.newStore();
        try (CommandProcess launch = CommandProcess.onStore(
                store,
                "launch",
                "--nproc_per_node=2",
                "--rdzv_id=mine",
                "--standalone",
                "--",
                "python3",
                "-c",
                script)) {
            assertThat(launch.exitCode()).as(launch.err()).isZero();
            assertThat(launch.out().lines())
                    .containsExactlyInAnyOrder(
                            "[0] 0 2 0 127.0.0.1 True mine " + store, "[1] 1 2 1 127.0.0.1 True mine " + store);
        }
    }

    @Test
    void aWholeLineForTorchrunIsTaken() {
        String line = "launch --nnodes=1:1 --nproc-per-node=1 --rdzv-id=7 --rdzv-backend=c10d"
                + " --rdzv-endpoint=localhost:0 --rdzv-conf=timeout=60 --rdzv_conf=join_timeout=9 --monitor-interval=1"
                + " --event-log-handler=null --event_log_handler=console --start-method=spawn --local-addr=localhost --role=trainer --standalone --no-python --max-restarts=0"
                + " --node-rank=0 --master-addr=127.0.0.1 -- sh -c";
        List<String> words = new ArrayList<>(List.of(line.split(" ", -1)));
        words.add("echo $ROLE_NAME $TORCHELASTIC_RUN_ID");
        try (CommandProcess launch =
                CommandProcess.onStore(LeavesNothingBehind.newStore(), words.toArray(String[]::new))) {
            assertThat(launch.exitCode()).as(launch.err()).isZero();
            assertThat(launch.out().lines()).containsExactly("[0] trainer 7");
        }
    }

    @Test
    void aModuleOfPythonIsRunAsTorchrunDoes() throws IOException {
        Files.writeString(
                folder.resolve("trainer.py"), "import os, sys; print(__name__, os.environ['RANK'], sys.argv[1:])");
        try (CommandProcess launch = CommandProcess.by(
                List.of("env", "PYTHONPATH=" + folder),
                LeavesNothingBehind.newStore(),
                "launch",
                "--nproc-per-node=2",
                "-m",
                "trainer",
                "--lr",
                "1")) {
            assertThat(launch.exitCode()).as(launch.err()).isZero();
            assertThat(launch.out().lines())
                    .containsExactlyInAnyOrder("[0] __main__ 0 ['--lr', '1']", "[1] __main__ 1 ['--lr', '1']");
        }
    }

    @Test
    void aPythonScriptIsRunWithoutItsInterpreterAsTorchrunDoes() throws IOException {
        Path script = folder.resolve("train.py");
        Files.writeString(script, "import os, sys; print(os.environ['RANK'], os.environ['WORLD_SIZE'], sys.argv[1:])");
        assertThat(script.toFile().setExecutable(true)).isTrue(); // as all files are on some mounts
        try (CommandProcess launch = CommandProcess.onStore(
                LeavesNothingBehind.newStore(), "launch", "-n", "9", "-n", "1", script.toString(), "--lr", "1")) {
            assertThat(launch.exitCode()).as(launch.err()).isZero();
            assertThat(launch.out().lines()).containsExactly("[0] 0 1 ['--lr', '1']");
            assertThat(launch.err()).doesNotContain("WARN");
        }
    }

    @Test
    void aScriptThatNamesItsInterpreterIsAProgram() throws IOException {
        Path script = Files.writeString(folder.resolve("train.py"), "#!/bin/sh\necho shell\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        try (CommandProcess launch =
                CommandProcess.onStore(LeavesNothingBehind.newStore(), "launch", script.toString())) {
            assertThat(launch.exitCode()).as(launch.err()).isZero();
            assertThat(launch.out().lines()).containsExactly("[0] shell");
        }
    }

    @Test
    void ranksFindTheOtherVariablesOfTorchrun() throws IOException {
        String script = "echo $TORCHELASTIC_ERROR_FILE $TORCH_NCCL_ASYNC_ERROR_HANDLING $TORCHELASTIC_SIGNALS_TO_HANDLE"
                + " $TORCHELASTIC_RUN_ID";
        String logs = folder.resolve("logs").toString();
        try (CommandProcess launch =
                launch(script, "--standalone", "--log-dir", logs, "--signals-to-handle=SIGTERM,SIGUSR1")) {
            assertThat(launch.exitCode()).as(launch.err()).isZero();
            assertThat(launch.out())
                    .containsPattern(
                            "\\[1\\] " + logs + "/run_[^/]*/attempt_0/1/error.json 1 SIGTERM,SIGUSR1 [-0-9a-f]{36}\n");
        }
    }

    @Test
    void ranksOfALaunchThatAnEngineStartedAgainCountItsRestartsToo() {
        String script = "echo $TORCHELASTIC_RESTART_COUNT of $TORCHELASTIC_MAX_RESTARTS; exit $((1 - LARDER_ATTEMPT))";
        try (CommandProcess launch = launch(script, "-n=1", "--max-restarts=1", "--earlier-restarts=2")) {
            assertThat(launch.exitCode()).as(launch.err()).isZero();
            assertThat(launch.out().lines()).containsExactly("[0] 2 of 3", "[0] 3 of 3");
        }
    }

    @Test
    void aProgramThatDoesNotExistIsNotStartedAgain() {
        try (CommandProcess launch = CommandProcess.onStore(
                LeavesNothingBehind.newStore(), "launch", "--max-restarts=3", "--", "no-such-program")) {
            assertThat(launch.exitCode()).isEqualTo(127);
            assertThat(launch.err())
                    .contains("no such program: command=no-such-program", "attempt=1/4")
                    .doesNotContain("restarting");
        }
    }

    @Test
    void launchersOfOneRunMeetEachWithAStoreOfItsOwn() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        String[] words = {
            "launch",
            "--nnodes=2",
            "--rdzv-endpoint=localhost:" + port,
            "-n=2",
            "--",
            "sh",
            "-c",
            "echo $RANK/$WORLD_SIZE; [ $RANK != 3 ] || { sleep 0.2; exit 9; }; exec sleep 600"
        };
        try (CommandProcess one = CommandProcess.onStore(LeavesNothingBehind.newStore(), words);
                CommandProcess two = CommandProcess.onStore(LeavesNothingBehind.newStore(), words)) {
            assertThat(one.exitCode()).as(one.err()).isEqualTo(9);
            assertThat(two.exitCode()).as(two.err()).isEqualTo(9);
            assertThat(List.of(one.err(), two.err()))
                    .allSatisfy(err -> assertThat(err).contains("larder: a rank failed: rank=3 pid="))
                    .satisfiesOnlyOnce(err -> assertThat(err).contains("larder: joined the run at localhost:" + port));
            assertThat(List.of(one.out(), two.out()))
                    .satisfiesOnlyOnce(out -> assertThat(out).contains("[0] 0/4", "[1] 1/4", "[2@", "[3@"))
                    .satisfiesOnlyOnce(out -> assertThat(out.lines()).containsExactlyInAnyOrder("[2] 2/4", "[3] 3/4"));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "launch | 2 | CMD",
                "launch -m --no-python trainer | 2 | --module and --no-python exclude each other",
                "launch -n 0 -- true | 2 | not a number of ranks: '0'",
                "launch -n many -- true | 2 | not a number of ranks: 'many'",
                "launch -n 99999 -- true | 2 | bad number of ranks",
                "launch --nnodes=2 -- true | 2 | machines need a place to meet: nnodes=2",
                "launch --nnodes=1:4 -- true | 2 | machines need a place to meet: nnodes=1:4",
                "launch --nnodes=many -- true | 2 | --nnodes is N, MIN:MAX or slurm",
                "launch --nnodes=slurm -- true | 2 | this is no step of a Slurm job: missing=SLURM_STEP_NUM_NODES",
                "launch --nnodes=4:2 --rdzv-endpoint localhost -- true | 2 | bad number of nodes: nnodes=4:2",
                "launch --nnodes=2 --node-rank=2 --rdzv-endpoint localhost -- true | 2 | no such node rank: nodeRank=2",
                "launch --nnodes=2 --rdzv-endpoint=192.0.2.1:29400 -- true | 2 | needs the run's secret",
                "launch --nnodes=2 --rdzv-endpoint=0.0.0.0:29400 -- true | 2 | no machine can reach this",
                "launch --nnodes=2 --rdzv-endpoint=here:port -- true | 2 | not HOST:PORT: endpoint=here:port",
                "launch --nnodes=2 --rdzv-secret-file=/no/file --rdzv-endpoint=localhost -- true | 6 | cannot read the run's secret",
                "launch --node-rank=1 -- true | 2 | no such node rank: nodeRank=1",
                "launch --rdzv-endpoint=192.0.2.1:29400 -- true | 7 | rdzv-endpoint=192.0.2.1:29400",
                "launch --tee 3 -- true | 2 | need --log-dir",
                "launch --log-dir /tmp -r 7 -- true | 2 | --redirects is 0, 1, 2, 3",
                "launch --local-ranks-filter 3 -- true | 2 | no such rank: 3 of 1",
                "launch --virtual-local-rank t.py | 2 | option=--virtual-local-rank; let the program choose its GPU",
                "launch --numa-binding=node t.py | 2 | option=--numa-binding; start the program by numactl",
                "launch --duplicate_stderr_filters=a,b t.py | 2 | an option of torchrun is not supported: option=--dup",
                "launch --run-path /t.py | 2 | option=--run-path; leave it out",
                "launch --signals-to-handle=SIGALRM t.py | 2 | signal=SIGALRM; name some of SIGTERM,SIGINT",
                "launch --master-port 70000 -- true | 2 | bad port",
            })
    void whatMakesNoSenseIsRefused(String line, int code, String message) {
        Answer answer = Answer.of(line.strip().split(" ", -1));

        assertThat(answer.code()).as(answer.err()).isEqualTo(code);
        assertThat(answer.err()).startsWith("larder: ").contains(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "launch -- no-such-program | 127 | no such program: command=no-such-program",
                "launch -- /dev/null | 126 | not an executable file",
                "launch t.py | 127 | no such program: command=t.py",
            })
    void whatIsNoProgramGivesTheExitCodeOfShells(String line, int code, String message) {
        try (CommandProcess launch = CommandProcess.onStore(
                LeavesNothingBehind.newStore(), line.strip().split(" ", -1))) {
            assertThat(launch.exitCode()).as(launch.err()).isEqualTo(code);
            assertThat(launch.err()).contains(message);
        }
    }

    @Test
    void nothingIsLeftWhicheverProcessIsKilled() {
        Rounds rounds = Rounds.of("killed launches", 2);
        Random random = rounds.random();
        for (int round = 0; round < rounds.count(); round++) {
            try (CommandProcess launch = launch(DEAF_FAMILY, "--grace=200ms", "--max-restarts=1")) {
                List<Long> pids = pids(launch, 6);
                long victim = random.nextBoolean() ? launch.pid() : pids.get(random.nextInt(pids.size()));
                String name = List.of("KILL", "STOP").get(random.nextInt(2));
                Processes.signal(name, victim);
                launch.signalAfter(random.nextInt(50), random.nextBoolean() ? "KILL" : "TERM");
                launch.signal("CONT"); // where it still is
                assertThat(launch.exitCode()).as("%s round %d", rounds, round).isNotZero();
                pids(launch.out()).forEach(Processes::awaitGone);
            }
        }
    }
}
