package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.command.program.Caller;
import dev.larder.command.program.HeldName;
import dev.larder.command.program.ProgramWords;
import dev.larder.testing.LeavesNothingBehind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Becomes other programs, and looks at what they find. */
class RunTest {
    @TempDir
    Path folder;

    private CommandProcess serveVector() {
        return CommandProcess.serve("--load", "v=" + Samples.vector(folder, "x", 1000));
    }

    private static CommandProcess run(CommandProcess daemon, String... words) {
        List<String> arguments = new ArrayList<>(List.of("run"));
        arguments.addAll(List.of(words));
        return CommandProcess.onStore(daemon.store(), arguments.toArray(String[]::new));
    }

    @Test
    void theProgramFindsTheStoreAndThePathsOfWhatItHolds() {
        try (CommandProcess daemon = serveVector();
                CommandProcess run = run(daemon, "--hold", "v", "v/x", "--", "env")) {
            assertThat(run.exitCode()).isZero();

            Path version = daemon.store().resolve("data/v/1");
            assertThat(run.out().lines())
                    .contains(
                            "LARDER_STORE=" + daemon.store(),
                            "LARDER_PATH_V=" + version,
                            "LARDER_PATH_V_X=" + version.resolve("x.npy"));
            assertThat(run.err()).isEmpty();
        }
    }

    @Test
    void theProgramTakesThePlaceOfTheCommandAndItsExitCodeCounts() {
        try (CommandProcess daemon = serveVector();
                CommandProcess run = run(daemon, "--hold", "v", "--", "sh", "-c", "echo $$; exit 37")) {
            assertThat(run.exitCode()).isEqualTo(37);
            assertThat(run.out()).isEqualTo(run.pid() + "\n");
        }
    }

    @Test
    void theProgramInheritsOneDescriptorForEachVersionAndNothingElseOfTheJvm() {
        try (CommandProcess daemon = serveVector();
                CommandProcess run = run(daemon, "--hold=v,v/x", "--", "sh", "-c", "readlink /proc/$$/fd/*; true")) {
            assertThat(run.exitCode()).isZero();

            assertThat(run.out().lines().filter(file -> !file.startsWith("pipe:") && !file.endsWith(".out")))
                    .filteredOn(file -> !file.endsWith(".err"))
                    .containsExactly(daemon.store().resolve("data/v/1/lease").toString());
        }
    }

    @Test
    void theProgramsSignalsAreAsAShellGivesThem() {
        String statusOf = "awk '/SigBlk|SigIgn/ {print $1 substr($2, 13)}' /proc/self/status";
        List<String> deaf = List.of("sh", "-c", "trap '' INT PIPE; exec \"$@\"", "sh");
        try (CommandProcess daemon = serveVector();
                CommandProcess run =
                        CommandProcess.by(deaf, daemon.store(), "run", "--hold", "v", "--", "sh", "-c", statusOf)) {
            assertThat(run.exitCode()).isZero();
            assertThat(run.out()).isEqualTo("SigBlk:0000\nSigIgn:0000\n");
        }
    }

    @Test
    void whatIsHeldIsNotEvictedUntilTheProgramEndsHoweverItEnds() {
        try (CommandProcess daemon = serveVector();
                CommandProcess run = run(daemon, "--hold", "v", "--", "sh", "-c", "echo up; exec cat")) {
            run.awaitOut("up");
            assertThat(daemon.ask("evict", "v").code()).isEqualTo(7);

            run.kill();

            assertThat(daemon.ask("evict", "v").code()).isZero();
        }
    }

    @Test
    void aDatasetThatIsLoadingIsWaitedFor() {
        Path large = Samples.large(folder, 256L << 20);
        try (CommandProcess daemon = CommandProcess.start("serve", "--load", "large=" + large)) {
            daemon.awaitErr("loading");
            try (CommandProcess run =
                    run(daemon, "--hold", "large", "--", "sh", "-c", "test -d $LARDER_PATH_LARGE && echo there")) {
                run.awaitOut("there");
                assertThat(run.exitCode()).isZero();
            }
        }
    }

    @Test
    void aDatasetThatIsOnlyRegisteredIsLoadedFirst() {
        try (CommandProcess daemon = CommandProcess.serve()) {
            Path source = Samples.vector(folder, "x", 1000);
            assertThat(daemon.ask("register", "v=" + source).code()).isZero();

            try (CommandProcess run = run(daemon, "--hold", "v/x", "--", "sh", "-c", "test -f $LARDER_PATH_V_X")) {
                assertThat(run.exitCode()).as(run.err()).isZero();
            }
        }
    }

    @Test
    void whatCannotBeHeldOrRunIsRefused() {
        try (CommandProcess daemon = serveVector()) {
            for (String row : List.of(
                    "run --hold a-b a.b -- true | 2 | share the variable LARDER_PATH_A_B: a-b, a.b",
                    "run -- true | 2 | nothing to hold",
                    "run --hold v | 2 | CMD",
                    "run --hold v -- /absent/program | 127 | command not found: command=/absent/program",
                    "run --hold v -- no-such-program | 127 | command not found: command=no-such-program",
                    "run --hold v -- /dev/null | 126 | cannot run the command: command=/dev/null",
                    "run --hold nope -- true | 4 | no such dataset",
                    "run --hold v/nope -- true | 4 | no such array",
                    "run --hold .. -- true | 6 | bad dataset name")) {
                String[] parts = row.split(" \\| ", -1);
                try (CommandProcess run = CommandProcess.onStore(daemon.store(), parts[0].split(" ", -1))) {
                    assertThat(run.exitCode()).as(row + run.err()).isEqualTo(Integer.parseInt(parts[1]));
                    assertThat(run.err()).startsWith("larder: ").contains(parts[2]);
                }
            }
        }
    }

    @Test
    void withoutADaemonThereIsNothingToHold() {
        Path absent = LeavesNothingBehind.newStore();
        try (CommandProcess run = CommandProcess.onStore(absent, "run", "--hold", "v", "--", "true")) {
            assertThat(run.exitCode()).isEqualTo(3);
            assertThat(run.err()).contains("no daemon at the store: store=" + absent);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "mnist, LARDER_PATH_MNIST",
        "Fashion-MNIST.v2, LARDER_PATH_FASHION_MNIST_V2",
        "größe, LARDER_PATH_GR__E",
        "scan/obj_feat/values, LARDER_PATH_SCAN_OBJ_FEAT_VALUES"
    })
    void variablesAreNamedInCapitalsAndUnderscores(String name, String variable) {
        assertThat(HeldName.parse(name).variable()).isEqualTo(variable);
        assertThat(HeldName.parse(name)).hasToString(name);
    }

    @Test
    void wordsThatAreNoUtf8ReachTheProgramAsTheyCame() {
        byte[] latin1 = "caf\u00e9".getBytes(StandardCharsets.ISO_8859_1);
        byte[] option = "-x".getBytes(StandardCharsets.UTF_8);
        String decoded = new String(latin1, StandardCharsets.UTF_8);

        assertThat(ProgramWords.bytes(List.of("-x", decoded), List.of(new byte[1], option, latin1)))
                .containsExactly(option, latin1);
        assertThat(ProgramWords.bytes(List.of("-x"), List.of())).containsExactly(option);
        assertThat(ProgramWords.bytes(List.of("-x"), List.of(latin1))).containsExactly(option);
    }

    @Test
    void wordsThatBeginWithAnAtSignReachTheProgramAsTheyCame() throws Exception {
        Path words = Files.writeString(folder.resolve("words"), "one two\n");
        CommandLine larder = LarderCommand.commandLine();

        larder.parseArgs("run", "--hold", "v", "--", "echo", "@" + words, "@@x");

        Run run = Objects.requireNonNull(larder.getSubcommands().get("run")).getCommand();
        assertThat(run.command).containsExactly("echo", "@" + words, "@@x");
    }

    @Test
    void theScriptTellsWhatItsCallerHad() {
        Properties properties = new Properties();
        properties.setProperty("larder.caller.LC_ALL", "=C");
        properties.setProperty("larder.caller.POCL_SIGFPE_HANDLER", "");
        properties.setProperty("larder.descriptors", "0,1,2,63,");

        assertThat(Caller.variables(properties))
                .containsEntry("LC_ALL", "C")
                .containsEntry("POCL_SIGFPE_HANDLER", null);
        assertThat(Caller.descriptors(properties)).containsExactlyInAnyOrder(0, 1, 2, 63);
        assertThat(Caller.descriptors(new Properties())).isEmpty();
    }

    @Test
    void aPlaceWithoutPythonFilesIsRefusedForRedirection() throws Exception {
        Files.createDirectory(folder.resolve("redirect"));

        Answer answer = Answer.of("run", "--redirect", "--", "true");

        assertThat(answer.code()).isEqualTo(1);
        assertThat(answer.err()).contains("no Python files for --redirect").contains("-Dlarder.python");
    }
}
