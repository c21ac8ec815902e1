package dev.larder.spark.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Launches on a Spark cluster of two executors, with the program that people start, and kills what can be killed. */
@Tag("slow")
class SparkLaunchTest {
    private static final String EXECUTOR = "CoarseGrainedExecutorBackend";

    @TempDir
    Path folder;

    private Path store;

    /** Stands in the command lines of all ranks of a test. */
    private String mark;

    @BeforeEach
    void begin() {
        store = LeavesNothingBehind.newStore();
        mark = store.getFileName() + "-rank";
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        LarderProgram.awaitNone(mark);
        LarderProgram.awaitNone(folder.toString());
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left.map(Path::getFileName).map(Path::toString))
                    .noneMatch(name -> name.startsWith("larder-spark"));
        }
    }

    private LarderProgram launch(List<String> options, String script) {
        return LarderProgram.launch(folder, store, options, ": " + mark + "; " + script);
    }

    private String untilReleased() {
        return "while [ ! -e " + folder.resolve("go") + " ]; do sleep 0.1; done";
    }

    private void release() throws IOException {
        Files.createFile(folder.resolve("go"));
    }

    @Test
    void nodesOfOneMachineHaveAStoreEachAndRanksAreCountedAcrossThem() {
        try (LarderProgram launch =
                launch(List.of(), "echo rank $RANK of $WORLD_SIZE node $GROUP_RANK in $LARDER_STORE")) {
            assertThat(launch.exitCode()).as(launch::said).isZero();
            assertThat(launch.out().lines().map(line -> line.replaceFirst("@[^#]*#", "#")))
                    .containsExactlyInAnyOrder(
                            "[0] rank 0 of 4 node 0 in " + store,
                            "[1] rank 1 of 4 node 0 in " + store,
                            "[2#1] rank 2 of 4 node 1 in " + store + "-1",
                            "[3#1] rank 3 of 4 node 1 in " + store + "-1");
        }
    }

    @Test
    void theRankThatFailsIsNamedAndItsExitCodeIsThatOfTheLaunch() {
        try (LarderProgram launch = launch(
                List.of("--max-restarts=1"),
                "echo rank $RANK restart $TORCHELASTIC_RESTART_COUNT; [ $RANK != 2 ] || exit 9; sleep 100")) {
            assertThat(launch.exitCode()).as(launch::said).isEqualTo(9);
            assertThat(launch.err())
                    .contains("a rank failed: rank=2")
                    .contains("cause=exit code 9")
                    .contains("attempt=2/2");
            assertThat(launch.out()).contains("[2@").contains("rank 2 restart 1");
        }
    }

    @Test
    void aKilledRankIsStartedAgainWithAllOthersWithoutAnotherStageOfSpark() {
        try (LarderProgram launch = launch(
                List.of("--max-restarts=1"),
                "echo pid $$ restart $TORCHELASTIC_RESTART_COUNT; [ $TORCHELASTIC_RESTART_COUNT = 1 ] || sleep 100")) {
            List<String> pids = launch.await("pid (\\d+) restart 0", 4);

            LarderProgram.signal("KILL", Long.parseLong(pids.get(2)));

            assertThat(launch.exitCode()).as(launch::said).isZero();
            assertThat(launch.await("pid (\\d+) restart 1", 4)).hasSize(4);
        }
    }

    @Test
    void aKilledExecutorIsReplacedAndFindsTheDataThatOutlivedIt() throws IOException {
        Path source = Files.write(folder.resolve("a.npy"), npy(1 << 20));
        try (LarderProgram launch = launch(
                List.of("--max-restarts=1", "--data=train=" + source, "--data-idle=5m"),
                "echo pid $$; test -s $LARDER_STORE/data/train/1/a.npy || exit 1; " + untilReleased())) {
            List<String> first = launch.await("pid (\\d+)", 4);
            List<ProcessHandle> executors = launch.below(EXECUTOR);
            assertThat(executors).as(launch::said).hasSize(2);

            executors.get(0).destroyForcibly();
            List<String> all = launch.await("pid (\\d+)", 8);
            release();

            assertThat(launch.exitCode()).as(launch::said).isZero();
            assertThat(all).hasSize(8).doesNotHaveDuplicates().startsWith(first.toArray(String[]::new));
            assertThat(launch.err()).containsOnlyOnce("train loaded").containsOnlyOnce("train was there");
        }
        LarderProgram.stopDaemon(folder, store);
        LarderProgram.stopDaemon(folder, store.resolveSibling(store.getFileName() + "-1"));
    }

    @Test
    void withoutARestartTheLossOfAnExecutorEndsTheLaunchAndSaysSo() {
        try (LarderProgram launch = launch(List.of(), "echo pid $$; sleep 100")) {
            launch.await("pid (\\d+)", 4);

            launch.below(EXECUTOR).get(0).destroyForcibly();

            assertThat(launch.exitCode()).as(launch::said).isEqualTo(9);
            assertThat(launch.err())
                    .contains("nodes were lost, and no restarts are left")
                    .contains("--max-restarts");
        }
    }

    @Test
    void aKilledDriverLeavesNothing() {
        try (LarderProgram launch = launch(List.of("--max-restarts=3"), "echo pid $$; sleep 100")) {
            launch.await("pid (\\d+)", 4);

            launch.below("LaunchMain").get(0).destroyForcibly();

            assertThat(launch.exitCode()).as(launch::said).isEqualTo(137);
            assertThat(launch.err()).contains("Spark's driver is lost: cause=killed by SIGKILL");
        }
    }

    @Test
    void aKilledCommandLeavesNoProcess() throws IOException {
        try (LarderProgram launch = launch(List.of("--max-restarts=3"), "echo pid $$; sleep 100")) {
            launch.await("pid (\\d+)", 4);

            LarderProgram.signal("KILL", launch.pid());

            assertThat(launch.exitCode()).isEqualTo(137);
            LarderProgram.awaitNone(mark);
            LarderProgram.awaitNone("LaunchMain");
        }
        removeScratch();
    }

    /** Who is killed removes nothing; the folder of executors that work in it stays. */
    private void removeScratch() throws IOException {
        try (Stream<Path> left = Files.walk(folder)) {
            for (Path path : left.sorted(Comparator.reverseOrder()).toList()) {
                if (path.startsWith(folder)
                        && folder.relativize(path).toString().startsWith("larder-spark")) {
                    Files.delete(path);
                }
            }
        }
    }

    @Test
    void ctrlCAsksTheRanksToEndAndTheDaemonsLeaveWithThem() throws IOException {
        Path source = Files.write(folder.resolve("a.npy"), npy(1 << 20));
        try (LarderProgram launch = launch(
                List.of("--data=train=" + source),
                "trap 'echo asked $RANK; exit 1' TERM; echo pid $$; sleep 100 & wait")) {
            launch.await("pid (\\d+)", 4);

            LarderProgram.signal("INT", launch.pid());

            assertThat(launch.exitCode()).as(launch::said).isEqualTo(130);
            assertThat(launch.await("asked (\\d)", 4)).containsExactlyInAnyOrder("0", "1", "2", "3");
        }
        assertThat(store).doesNotExist();
        assertThat(store.resolveSibling(store.getFileName() + "-1")).doesNotExist();
    }

    @Test
    void tooFewExecutorsEndALaunchByItsDeadline() {
        try (LarderProgram launch =
                launch(List.of("--master=local-cluster[1,1,1024]", "--rdzv-timeout=8s"), "echo never")) {
            assertThat(launch.exitCode()).as(launch::said).isEqualTo(9);
            assertThat(launch.err()).containsPattern("too few executors started in time: executors=[01] min=2");
        }
    }

    @Test
    void fewerNodesThanTheMostStartWhereTheRestDoesNotCome() {
        try (LarderProgram launch = launch(
                List.of("--master=local-cluster[1,1,1024]", "--join-timeout=1s", "--nnodes=1:2"),
                "echo of $WORLD_SIZE.")) {
            assertThat(launch.exitCode()).as(launch::said).isZero();
            assertThat(launch.await("of (\\d)\\.", 2)).containsExactly("2", "2");
        }
    }

    private static byte[] npy(int length) {
        byte[] file = new byte[128 + length];
        String header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + length + ",), }";
        byte[] start = ("\u0093NUMPY\u0001\u0000v\u0000" + header + " ".repeat(117 - header.length()) + "\n")
                .getBytes(StandardCharsets.ISO_8859_1);
        System.arraycopy(start, 0, file, 0, start.length);
        return file;
    }
}
