package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.larder.examples.distributed.BucketSteps;
import dev.larder.examples.distributed.DataParallelTrainer;
import dev.larder.examples.distributed.HandlePipeline;
import dev.larder.examples.distributed.HogwildTrainer;
import dev.larder.testing.FashionMnist;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs of several processes, launched as their descriptions say, in small form, on one daemon. */
class DistributedExamplesTest {
    /** The sum of all pixels of the first 20,000 training images, as numpy has it. */
    private static final long PIXELS_OF_20000 = 1_142_624_448L;

    @TempDir
    static Path folder;

    private static CommandProcess daemon;

    @BeforeAll
    static void serve() {
        daemon = CommandProcess.serve("--load", "fashion=" + FashionMnist.folder());
        Samples.numpy(folder, "for i in range(300): np.save(f'{i:04d}.npy', np.arange(i * 37 % 90 + 1))");
        assertThat(daemon.ask("load", "texts=" + folder, "--as", "ragged").code())
                .isZero();
    }

    @AfterAll
    static void stop() {
        daemon.close();
    }

    /** Launches a program on the store, and returns its output in lines. */
    private static List<String> launch(int ranks, Class<?> program, String... arguments) throws IOException {
        List<String> words = new ArrayList<>(List.of("launch", "-n", Integer.toString(ranks), "--no-prefix", "--"));
        words.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                program.getName()));
        words.addAll(List.of(arguments));
        try (CommandProcess launcher = CommandProcess.onStore(daemon.store(), words.toArray(String[]::new))) {
            assertThat(launcher.exitCode()).as(launcher::err).isZero();
            return launcher.out().lines().toList();
        }
    }

    private static double number(List<String> lines, String pattern) {
        for (String line : lines) {
            Matcher matcher = Pattern.compile(pattern).matcher(line);
            if (matcher.matches()) {
                return Double.parseDouble(matcher.group(1));
            }
        }
        throw new AssertionError("no line " + pattern + " in " + lines);
    }

    @Tag("slow")
    @Test
    void fourRanksLearnWhatOneLearns() throws IOException {
        String[] small = {"--steps", "150", "--epochs", "2"};

        List<String> one = launch(1, DataParallelTrainer.class, small);
        List<String> four = launch(4, DataParallelTrainer.class, small);

        double alone = number(one, "rank 0 epoch 1 loss (.*)");
        double together = 0;
        for (int rank = 0; rank < 4; rank++) {
            together += number(four, "rank " + rank + " epoch 1 loss (.*)") / 4;
        }
        assertThat(together).isCloseTo(alone, within(1e-4));
        String parameters = "ranks . accuracy .* parameters (.*) tested 10000";
        assertThat(number(four, parameters)).isCloseTo(number(one, parameters), within(1e-4));
        assertThat(number(four, "ranks 4 accuracy (.*) parameters .* tested 10000"))
                .isGreaterThan(0.78);
    }

    @Tag("slow")
    @Test
    void parametersThatNobodyLocksConverge() throws IOException {
        List<String> lines = launch(4, HogwildTrainer.class, "--steps", "150");

        assertThat(number(lines, "ranks 4 accuracy (.*) tested 10000")).isGreaterThan(0.76);
    }

    @Test
    void handlesCarryEveryBlockOnceThroughFourBuffers() throws IOException {
        List<String> lines = launch(3, HandlePipeline.class, "--blocks", "40");

        assertThat(lines).contains("buffers 4 blocks 40 sum " + PIXELS_OF_20000);
        assertThat(number(lines, "rank 1 took (.*) blocks") + number(lines, "rank 2 took (.*) blocks"))
                .isEqualTo(40);
    }

    @Tag("slow")
    @Test
    void ranksWithBucketsMakeEquallyManySteps() throws IOException {
        List<String> lines = launch(4, BucketSteps.class, "--column", "data");

        assertThat(lines)
                .contains("epoch 0 steps of all ranks [6, 6, 6, 6] samples 300")
                .contains("epoch 1 steps of all ranks [6, 6, 6, 6] samples 300");
    }
}
