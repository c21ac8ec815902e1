package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class UsageTest {
    private static String report(Exception failure, boolean debug) {
        StringWriter err = new StringWriter();
        FailureReport.report(failure, debug, new PrintWriter(err, true));
        return err.toString();
    }

    @Test
    void aCommandThatDoesNotExistIsCalledSoAndALikelyOneNamed() {
        assertThat(Answer.of("statsu", "x=y").err())
                .isEqualTo("larder: no such command: statsu; did you mean status?; see larder --help\n");
        assertThat(Answer.of("laod", "a=b").err()).contains("no such command: laod; did you mean load?");
        assertThat(Answer.of("frobnicate").err()).isEqualTo("larder: no such command: frobnicate; see larder --help\n");
        assertThat(Answer.of("status", "extra").err())
                .isEqualTo("larder: status takes no 'extra'; see larder status --help\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "load --colums=a x=/x | no such option: --colums; did you mean --columns?; see larder load --help",
                "load --lod x=/x | no such option: --lod; see larder load --help",
                "serve --lod x=/x | no such option: --lod; did you mean --load?; see larder serve --help",
                "serve feats.npy | serve takes no 'feats.npy'; load it with --load feats=feats.npy; see larder serve --help",
                "load x.npy | a source is NAME=PATH, not 'x.npy'; give it a name: x=x.npy; see larder load --help",
                "load --astype f4 x=x.npy | no such option: --astype; did you mean --dtype?; see larder load --help",
                "run --timeout abc prog --lr 3 | invalid value for option '--timeout': not a duration: 'abc' (a duration is 500ms, 30s, 5m or 2h); see larder run --help",
                "load mnist ../data | a source is one word: mnist=../data; see larder load --help",
                "load a.npy b.npy | a source is NAME=PATH, not 'a.npy'; give it a name: a=a.npy; see larder load --help",
                "load =x.npy | a source is NAME=PATH, not '=x.npy'; give it a name: x=x.npy; see larder load --help",
                "load x= | a source is NAME=PATH, not 'x='; give it a name: x=PATH; see larder load --help",
                "load ../.. | a source is NAME=PATH, not '../..'; give it a name: NAME=../..; see larder load --help",
                "register https://u:p@h/my%20set/ | a source is NAME=PATH, not 'https://h/my%20set/'; give it a name:"
                        + " my_20set=https://h/my%20set/; see larder register --help",
                "evict -x | no such option: -x; a name that begins with - stands after --; see larder evict --help",
                "show --rows -5: | missing required parameter: 'NAME'; see larder show --help",
                "help lod | no such command: lod; did you mean load?; see larder --help",
            })
    void whatIsMeantIsProposed(String line, String message) {
        Answer answer = Answer.of(line.split(" "));

        assertThat(answer.code()).isEqualTo(2);
        assertThat(answer.err()).isEqualTo("larder: " + message + "\n");
    }

    @Test
    void withoutAnyWordTheFirstCommandsAreShown(@TempDir Path store) {
        Answer answer = Answer.of(store);

        assertThat(answer.code()).isEqualTo(2);
        assertThat(answer.err())
                .startsWith("larder: no command given; see larder --help\n  no daemon serves " + store
                        + "\n  larder serve --detach --load ");
        assertThat(answer.err().lines().skip(1).flatMap(line -> CommandWords.complaints(line).stream()))
                .isEmpty();
    }

    @Test
    void withoutAnyWordAStoreThatCannotBeReadIsReported(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("file"));

        Answer answer = Answer.of(file.resolve("store"));

        assertThat(answer.code()).isEqualTo(2);
        assertThat(answer.err()).startsWith("larder: no command given").contains("  larder doctor ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "exec \"$@\" > /dev/full | 1 | No space left on device",
                "exec \"$@\" >&- | 1 | Bad file descriptor",
                "exec > >(:); wait $!; exec \"$@\" | 0 | ''",
            })
    void outputThatCannotBeWrittenEndsWith1AndAClosedPipeQuietly(String script, int code, String reason) {
        List<String> starter = List.of("bash", "-c", script, "bash");

        try (CommandProcess help = CommandProcess.by(starter, LeavesNothingBehind.newStore(), "help")) {
            assertThat(help.exitCode()).isEqualTo(code);
            assertThat(help.err())
                    .isEqualTo(
                            code == 0
                                    ? ""
                                    : "larder: standard output cannot be written: reason=" + reason
                                            + "; free some space, and run the command again\n");
        }
    }

    @Test
    void helpIsThatOfTheCommand() {
        assertThat(Answer.of("help").out()).isEqualTo(Answer.of("--help").out());
        assertThat(Answer.of("help", "load").out())
                .isEqualTo(Answer.of("load", "--help").out());
    }

    @Test
    void aSubcommandThatIsMadeAloneIsThatOfTheWhole() {
        Map<String, CommandLine> whole = LarderCommand.commandLine().getSubcommands();
        List<String> madeAlone = new ArrayList<>();

        whole.forEach((name, wanted) -> {
            CommandLine larder = LarderCommand.commandLine(name);
            CommandLine subcommand =
                    Objects.requireNonNull(larder.getSubcommands().get(name));
            assertThat(subcommand.getCommandSpec().userObject())
                    .hasSameClassAs(wanted.getCommandSpec().userObject());
            assertThat(subcommand.getUsageMessage()).isEqualTo(wanted.getUsageMessage());
            if (larder.getSubcommands().size() == 1) {
                madeAlone.add(name);
            }
        });
        madeAlone.addAll(List.of("completion", "help")); // which need all the others

        assertThat(madeAlone).containsExactlyInAnyOrderElementsOf(whole.keySet());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nonsense",
                "status extra",
                "load",
                "load name",
                "info",
                "evict",
                "load a=/x --workers 0",
                "serve --capacity big",
                "wait x --timeout 5",
                "ls --pin",
                "load a=/x --ttl 5",
                "serve --group-quota big",
                "serve --until-idle 0s",
                "serve --http 70000",
                "serve --log-level loud",
                "top --interval 1ms",
                "feed run1",
                "feed run1 a --arrays b --epochs 2..1"
            })
    void wrongUsageEndsWith2AndSaysWhereToLook(String line) {
        Answer answer = Answer.of(line.split(" "));

        assertThat(answer.code()).isEqualTo(2);
        assertThat(answer.out()).isEmpty();
        assertThat(answer.err())
                .startsWith("larder: ")
                .contains("; see larder " + (line.contains(" ") ? line.substring(0, line.indexOf(' ')) + " " : ""))
                .endsWith("--help\n")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "serve",
                "load",
                "register",
                "wait",
                "ls",
                "show",
                "pin",
                "unpin",
                "reload",
                "clients",
                "top",
                "regions",
                "errors",
                "info",
                "path",
                "evict",
                "verify",
                "status",
                "stop",
                "completion",
                "feed",
                "run",
                "launch",
                "grid",
                "gc",
                "doctor",
                "devices",
                "readers",
                "help"
            })
    void everyCommandExplainsItself(String command) {
        Answer answer = Answer.of(command, "--help");

        assertThat(answer.code()).isZero();
        assertThat(answer.out()).startsWith("Usage: larder " + command).contains("--store=DIR", "--debug");
    }

    @Test
    void theCommandItselfListsAllCommandsAndTheExitCodes() {
        Answer answer = Answer.of("--help");

        assertThat(answer.code()).isZero();
        assertThat(answer.out()).contains("serve", "load", "wait", "completion", "130 interrupted");
    }

    @Test
    void theVersionIsOneLine() {
        assertThat(Answer.of("--version").lines()).singleElement().asString().startsWith("larder ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "load a=/x",
                "wait a --timeout 10ms",
                "ls",
                "info a",
                "path a",
                "evict a",
                "pin a",
                "unpin a",
                "register a=/x",
                "verify",
                "status",
                "clients",
                "top",
                "regions",
                "errors",
                "feed run1 a --arrays b",
                "stop"
            })
    void withoutADaemonItEndsWith3(String line) {
        Answer answer = Answer.of(LeavesNothingBehind.newStore(), line.split(" "));

        assertThat(answer.code()).isEqualTo(3);
        assertThat(answer.out()).isEmpty();
        assertThat(answer.err())
                .contains("larder: no daemon at the store: store=")
                .endsWith(
                        "; start a daemon: larder serve --detach --load NAME=PATH, or name another store: --store DIR,"
                                + " Larder.connect(Path) in Java, or $LARDER_STORE\n");
    }

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void theExitCodeIsTheNumberOfTheErrorCode(ErrorCode code) {
        LarderException failure = Failure.of(code, "it failed").with("key", 1).remedy("try again");
        StringWriter err = new StringWriter();

        assertThat(FailureReport.report(failure, false, new PrintWriter(err, true)))
                .isEqualTo(code.number());
        assertThat(err).hasToString("larder: it failed: key=1; try again\n");
    }

    @Test
    void aCodeOfALaterVersionIsPassedOn() {
        assertThat(FailureReport.report(
                        new LarderException(77, "new", null), false, new PrintWriter(new StringWriter())))
                .isEqualTo(77);
    }

    @Test
    void aStackTraceIsShownOnRequestOnly() {
        IllegalStateException failure = new IllegalStateException("odd");

        assertThat(report(failure, false))
                .contains("unexpected failure", "odd", "--debug")
                .hasLineCount(1);
        assertThat(report(failure, true)).contains("\tat dev.larder.command.UsageTest");
    }

    @Test
    void theCompletionScriptIsSoundAndKnowsTheCommands(@TempDir Path folder) throws IOException, InterruptedException {
        Answer answer = Answer.of("completion");
        Path script = Files.writeString(folder.resolve("larder.bash"), answer.out());

        int bash = new ProcessBuilder("bash", "-n", script.toString()).start().waitFor();

        assertThat(bash).isZero();
        assertThat(complete(script, "larder", "load", "--as", ""))
                .containsExactly("arrays", "ragged", "strings", "index", "bytes", "images");
        assertThat(complete(script, "larder", "serve", "--as", "ra")).containsExactly("ragged");
        assertThat(answer.out()).contains("--capacity", "verify", "complete ").contains("larder");
    }

    /** Returns what bash proposes for the last of some words. */
    private static List<String> complete(Path script, String... words) throws IOException, InterruptedException {
        String line = "source " + script
                + "; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_LINE=\"$*\"; COMP_POINT=${#COMP_LINE};"
                + " _larder_with_names; printf '%s\\n' \"${COMPREPLY[@]}\"";
        List<String> command = new ArrayList<>(List.of("bash", "-c", line, "bash"));
        command.addAll(List.of(words));
        Process bash = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD) // compopt complains outside of a completion
                .start();
        String out = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(out).isZero();
        return out.lines().toList();
    }
}
