package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Asks for Spark where it is not; with Spark there is a long test. */
class LaunchViaSparkTest {
    @TempDir
    Path folder;

    private static void assertRefused(List<String> variables, List<String> options, String... messages) {
        List<String> starter = new ArrayList<>(List.of("env", "-u", "SPARK_HOME", "-u", "LARDER_SPARK"));
        starter.addAll(variables);
        List<String> words = new ArrayList<>(List.of("launch", "--nnodes=2"));
        words.addAll(options);
        words.addAll(List.of("--", "true"));
        try (CommandProcess launch =
                CommandProcess.by(starter, LeavesNothingBehind.newStore(), words.toArray(String[]::new))) {
            assertThat(launch.exitCode()).as(launch.err()).isEqualTo(2);
            assertThat(launch.err()).contains(messages);
        }
    }

    @Test
    void theMessageSaysHowToGetTheAdapterAndTheJarsOfSpark() throws IOException {
        Files.createFile(folder.resolve("larder-spark.jar"));

        assertRefused(
                List.of(),
                List.of("--via=spark"),
                "larder: Larder's adapter to Spark is missing: LARDER_SPARK=null; build it in a checkout",
                "-Pspark");
        assertRefused(
                List.of("LARDER_SPARK=" + folder),
                List.of("--via=spark"),
                "larder: Spark is missing: folder=" + folder.resolve("spark") + "; set SPARK_HOME");
    }

    @Test
    void whatSparkDecidesCannotBeSaidAndItsOptionsAreForItAlone() {
        assertRefused(List.of(), List.of("--via=flink"), "--via is spark, not 'flink'");
        assertRefused(List.of(), List.of("--conf=a=b"), "--master and --conf are for --via spark");
        assertRefused(List.of(), List.of("--via=spark", "--conf=a"), "--conf is KEY=VALUE, not 'a'");
        assertRefused(
                List.of(),
                List.of("--via=spark", "--node-rank=0"),
                "Spark assigns the nodes: option=--node-rank; leave it out with --via spark");
    }
}
