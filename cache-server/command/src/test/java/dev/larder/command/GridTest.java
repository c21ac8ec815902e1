package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.testing.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs grids of small shell scripts. */
class GridTest {
    @TempDir
    Path folder;

    private Path out() {
        return folder.resolve("grid");
    }

    /** Runs a grid of one script on two devices, with these parameters and options. */
    private Answer grid(String script, String... words) {
        return Answer.of(words(script, words));
    }

    private String[] words(String script, String... words) {
        List<String> all = new ArrayList<>(List.of("grid", "--devices", "2", "--out", out().toString()));
        all.addAll(List.of(words));
        all.addAll(List.of("--", "sh", "-c", "cd '" + folder + "'; " + script));
        return all.toArray(String[]::new);
    }

    private CommandProcess start(String script, String... words) {
        return CommandProcess.start(words(script, words));
    }

    private static JsonObject document(Answer answer) {
        return JsonParser.parseString(answer.out()).getAsJsonObject();
    }

    private static List<String> states(Answer answer) {
        List<String> states = new ArrayList<>();
        document(answer)
                .getAsJsonArray("jobs")
                .forEach(job -> states.add(job.getAsJsonObject().get("state").getAsString()));
        return states;
    }

    private List<String> ran() throws IOException {
        return Files.readAllLines(folder.resolve("ran"));
    }

    @Test
    void everyCombinationRunsAndItsResultStandsInTheTable() {
        Answer answer = grid("echo noise; echo '{\"loss\": {lr}, \"n\": {seed}}'", "lr=0.5,0.1", "seed=0..1");

        assertThat(answer.code()).as(answer.err()).isZero();
        assertThat(answer.lines()).hasSize(5);
        assertThat(answer.lines().get(0).split(" +"))
                .containsExactly("JOB", "lr", "seed", "STATE", "DEVICE", "TIME", "loss", "n", "RESULT");
        assertThat(answer.lines().get(4)).matches(" +4 +0\\.1 +1 +done +[01] +[0-9.]+ s +0\\.1 +1");
        assertThat(answer.err()).contains("job 4 done: done after", "grid: 4 done; folder=" + out());
        assertThat(out().resolve("0004.log")).hasContent("noise\n{\"loss\": 0.1, \"n\": 1}");
    }

    @Test
    void aJobFindsItsParametersItsDeviceAndAFileForItsResult() {
        Answer answer = grid(
                "echo $LARDER_PARAM_A_B.$LARDER_JOB.$CUDA_VISIBLE_DEVICES.$LARDER_DEVICE > $LARDER_RESULT; echo last",
                "a-b=x",
                "--json");

        JsonObject job = document(answer).getAsJsonArray("jobs").get(0).getAsJsonObject();
        assertThat(job.get("result").getAsString()).isEqualTo("x.1.0.0");
        assertThat(job.get("device").getAsString()).isEqualTo("0");
        assertThat(document(answer).get("done").getAsInt()).isEqualTo(1);
    }

    @Test
    void theResultOfAJobHasTheNameOfTheJobWhicheverAttemptWasDone() {
        String script = "if mkdir {x}; then echo poor; exit 1; else echo good; fi > $LARDER_RESULT";
        assertThat(grid(script, "x=1").code()).isEqualTo(1);
        assertThat(out().resolve("0001.result")).doesNotExist();

        Answer retried = Answer.of("grid", "--resume", out().toString(), "--retry-failed");

        assertThat(retried.code()).as(retried.err()).isZero();
        assertThat(out().resolve("0001.result")).hasContent("good");
        assertThat(out().resolve("0001.1.result")).hasContent("poor");
    }

    @Test
    void aFailureIsAResultAndEndsWith1AndOnlyFailuresAreRetried() throws IOException {
        String script = "echo {x} >> ran; test {x} != 1 || test -e mended";

        assertThat(states(grid(script, "x=0..2", "--json"))).containsExactly("done", "failed", "done");
        Files.createFile(folder.resolve("mended"));
        assertThat(grid(script, "x=0..2").code()).isEqualTo(1);
        Answer retried = Answer.of("grid", "--resume", out().toString(), "--retry-failed", "--json");

        assertThat(retried.code()).isZero();
        assertThat(states(retried)).containsExactly("done", "done", "done");
        assertThat(ran()).hasSize(4).endsWith("1");
        assertThat(out().resolve("0002.2.log")).exists();
    }

    @Test
    void deathsAndAbsentProgramsAreToldApart() {
        assertThat(grid("kill -SEGV $$", "x=1").out()).contains("failed", "killed by SIGSEGV");
        Answer absent =
                Answer.of("grid", "--devices", "1", "--out", folder.resolve("b").toString(), "--", "/absent/program");
        assertThat(absent.out()).contains("could not be started: no such program: command=/absent/program");
        assertThat(absent.code()).isEqualTo(1);
    }

    @Test
    void aJobWhoseTimeIsUpFailsAndNoMoreStartWhereThatIsWanted() {
        Answer answer = grid("exec sleep 600", "x=0..5", "--timeout", "200ms", "--stop-on-failure", "--json");

        assertThat(answer.code()).isEqualTo(1);
        assertThat(states(answer)).startsWith("failed").endsWith("waiting", "waiting", "waiting");
        assertThat(answer.out()).contains("ended: its time was up");
    }

    @Test
    void csvHasAllColumnsAndQuotesWhereItMust() throws IOException {
        Path csv = folder.resolve("t.csv");

        grid("echo '{\"state\": \"a,b\", \"k\": \"say \\\"x\\\"\"}'", "job=1", "--csv", csv.toString());

        assertThat(Files.readAllLines(csv).get(0))
                .isEqualTo("job,state,device,attempts,seconds,exitCode,cause,parameter.job,result.state,k,result");
        assertThat(Files.readAllLines(csv).get(1)).endsWith(",0,done,1,\"a,b\",\"say \"\"x\"\"\",");
    }

    @Test
    void aDryRunListsTheJobsAndLeavesNothing() {
        Answer answer = grid("echo {x}", "x=1,2", "--dry-run");

        assertThat(answer.lines()).hasSize(3);
        assertThat(answer.lines().get(2)).startsWith("  2  x=2").contains("'").contains("echo 2");
        assertThat(out()).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "grid x=1 -- echo {y}           | 2 | name={y}",
                "grid x -- true                 | 2 | not a parameter",
                "grid x=1 true                  | 2 | it goes after --",
                "grid x=1 --                    | 2 | no command to run",
                "grid --devices 0 x=1 -- true   | 2 | not a choice of devices",
                "grid --per-device 0 x=1 -- t   | 2 | --per-device is below 1",
                "grid --resume /absent          | 4 | no grid in this folder",
                "grid --resume /absent x=1 -- t | 2 | --resume takes",
                "grid --out /proc x=1 -- true   | 7 | files that do not belong to a grid"
            })
    void wrongUsageIsSaidBeforeAnythingIsMade(String line, int code, String message) {
        Answer answer = Answer.of(line.strip().split(" +"));

        assertThat(answer.code()).as(answer.err()).isEqualTo(code);
        assertThat(answer.err()).startsWith("larder: ").contains(message);
    }

    @Test
    void aFolderOfAnotherGridIsRefused() {
        grid("true", "x=1");

        Answer other = grid("true", "x=1,2");

        assertThat(other.code()).isEqualTo(7);
        assertThat(other.err()).contains("the folder is another grid's", "--resume " + out());
    }

    @Test
    void aSecondGridInTheSameFolderIsRefusedWhileTheFirstRuns() {
        try (CommandProcess first = start("echo up; exec sleep 600", "x=1")) {
            first.awaitErr("job 1 started");

            Answer second = grid("echo up; exec sleep 600", "x=1");

            assertThat(second.code()).isEqualTo(7);
            assertThat(second.err()).contains("another grid is running in this folder");
        }
    }

    @Test
    void ctrlCEndsTheJobsPolitelyPrintsTheTableAndTheGridCanGoOn() throws IOException {
        String script =
                "test -e again && exit 0; trap 'echo tidy >> ran; exit 0' TERM; echo up; while :; do sleep 0.1; done";
        try (CommandProcess grid = start(script, "x=0..2", "--json")) {
            awaitLog("0001.log", "up");
            awaitLog("0002.log", "up");
            assertThat(grid.signal("INT").exitCode()).isEqualTo(130);

            assertThat(states(new Answer(130, grid.out(), ""))).containsExactly("stopped", "stopped", "waiting");
            assertThat(ran()).containsExactly("tidy", "tidy");
        }
        Files.createFile(folder.resolve("again"));
        assertThat(states(grid(script, "x=0..2", "--json"))).containsExactly("done", "done", "done");
    }

    @Test
    void aSecondCtrlCKills() {
        try (CommandProcess grid = start("trap '' TERM; echo up; while :; do sleep 600; done", "x=1")) {
            awaitLog("0001.log", "up");
            grid.signal("INT").awaitErr("asked to end");

            assertThat(grid.signal("INT").exitCode()).isEqualTo(130);
            assertThat(grid.out()).contains("stopped");
        }
    }

    @Test
    void aGridThatIsKilledTakesItsJobsWithItAndGoesOnWhereItWas() throws IOException {
        String script =
                "echo {x} >> ran; echo {x}$$ > $LARDER_RESULT; test {x} = 0 -o -e again || { echo up $$; exec sleep 600; }";
        try (CommandProcess grid = start(script, "x=0..3")) {
            awaitLog("0003.log", "up");
            grid.kill();
        }
        Files.createFile(folder.resolve("again"));

        Answer resumed = Answer.of("grid", "--resume", out().toString(), "--json");

        assertThat(states(resumed)).containsExactly("done", "done", "done", "done");
        assertThat(ran()).hasSize(6).containsOnlyOnce("0").containsOnlyOnce("3");
        long pid = Long.parseLong(
                Files.readString(out().resolve("0003.log")).strip().substring(3));
        assertThat(Processes.isRunning(pid)).isFalse();
        assertThat(out().resolve("0003.2.log")).isEmptyFile();
        assertThat(results())
                .containsExactly(
                        "0001.result", "0002.1.result", "0002.result", "0003.1.result", "0003.result", "0004.result");
        assertThat(out().resolve("0003.result"))
                .content()
                .isNotEqualTo(Files.readString(out().resolve("0003.1.result")));
    }

    private List<String> results() throws IOException {
        try (Stream<Path> files = Files.list(out())) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.endsWith(".result"))
                    .sorted()
                    .toList();
        }
    }

    private void awaitLog(String name, String text) {
        await(text)
                .atMost(Duration.ofSeconds(30))
                .until(() -> Files.exists(out().resolve(name))
                        && Files.readString(out().resolve(name)).contains(text));
    }
}
