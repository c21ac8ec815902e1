package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Launches ranks with data that is loaded before they start. */
class LaunchDataTest {
    private static final String SECRET = "a secret of sixteen or more";

    @TempDir
    Path folder;

    private Path source() throws IOException {
        Path source = Files.createDirectories(folder.resolve("source"));
        Files.write(source.resolve("a.npy"), npy(8 << 20));
        return source;
    }

    private static byte[] npy(int length) {
        byte[] file = new byte[128 + length];
        String header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + length + ",), }";
        byte[] start = ("\u0093NUMPY\u0001\u0000v\u0000" + header + " ".repeat(117 - header.length()) + "\n")
                .getBytes(StandardCharsets.ISO_8859_1);
        System.arraycopy(start, 0, file, 0, start.length);
        return file;
    }

    @Test
    void aDaemonIsStartedForTheDataAndEndsWithTheLaunch() throws IOException {
        Path store = LeavesNothingBehind.newStore();
        String script = CommandProcess.script(folder).toString();
        try (CommandProcess launch = CommandProcess.by(
                List.of("env", "LARDER_COMMAND=" + script),
                store,
                "launch",
                "-n=2",
                "--data=train=" + source(),
                "--",
                "sh",
                "-c",
                "test -s $LARDER_STORE/data/train/1/a.npy && echo found")) {
            assertThat(launch.exitCode()).as(launch.err()).isZero();
            assertThat(launch.out().lines()).containsExactlyInAnyOrder("[0] found", "[1] found");
            assertThat(launch.err()).contains("larder: data: started a daemon: store=" + store);
        }
        assertThat(store).doesNotExist();
    }

    @Test
    void aLaunchThatStartsAgainFindsTheDataAndReadsNothing() throws IOException {
        Path source = source();
        try (CommandProcess daemon = CommandProcess.serve()) {
            String first = launch(daemon, source, "exit 7", 7);
            long readBefore = readBytes(daemon.pid());
            String second = launch(daemon, source, "exit 0", 0);

            assertThat(first).contains("larder: data: train loaded: bytes=" + (8 << 20));
            assertThat(second).contains("larder: data: train was there");
            assertThat(readBytes(daemon.pid()) - readBefore).isLessThan(1 << 20);
            assertThat(daemon.ask("status").code()).isZero();
        }
    }

    @Tag("slow")
    @Test
    void launchesThatBeginAtOnceShareTheDaemonThatOneOfThemStarts() throws IOException {
        Path store = LeavesNothingBehind.newStore();
        List<String> starter =
                List.of("env", "LARDER_COMMAND=" + CommandProcess.script(folder), "LARDER_RDZV_SECRET=" + SECRET);
        Path both = Files.createDirectory(folder.resolve("both"));
        String meets = "ls -d $LARDER_STORE/data/train/1 >&2; mkdir " + both + "/$$; until [ $(ls " + both
                + " | wc -l) = 2 ]; do sleep 0.02; done; echo up";
        String[] words = {"launch", "--data=train=" + source(), "--", "sh", "-c", meets};
        try (CommandProcess one = CommandProcess.by(starter, store, words);
                CommandProcess two = CommandProcess.by(starter, store, words)) {
            for (CommandProcess launch : List.of(one, two)) {
                assertThat(launch.exitCode()).as(launch.err()).isZero();
                assertThat(launch.out()).isEqualTo("[0] up\n");
            }
            assertThat((one.err() + two.err()).split("started a daemon", -1)).hasSize(2);
        } finally {
            assertThat(Answer.of(store, "stop").code()).isIn(0, 3); // who started it may have left it to the other
        }
    }

    @Tag("slow")
    @Test
    void theReasonOfAFailureIsTheLastLine() throws IOException {
        Path store = LeavesNothingBehind.newStore();
        try (CommandProcess launch = CommandProcess.by(
                List.of("env", "LARDER_COMMAND=" + CommandProcess.script(folder)),
                store,
                "launch",
                "--data=train=" + source(),
                "--",
                "false")) {
            assertThat(launch.exitCode()).isEqualTo(1);
            assertThat(launch.err()).contains("data: the daemon stays until");
            assertThat(launch.err().lines().reduce("", (before, line) -> line))
                    .startsWith("larder: a rank failed: rank=0");
        } finally {
            assertThat(Answer.of(store, "stop").code()).isZero();
        }
    }

    @Test
    void aDaemonThatOutlivesTheRunDoesNotKeepItsSecret() throws IOException {
        Path store = LeavesNothingBehind.newStore();
        try (CommandProcess launch = CommandProcess.by(
                List.of("env", "LARDER_COMMAND=" + CommandProcess.script(folder), "LARDER_RDZV_SECRET=" + SECRET),
                store,
                "launch",
                "--data=train=" + source(),
                "--",
                "sh",
                "-c",
                "echo found; exec sleep 600")) {
            launch.awaitOut("found");

            assertThat(ProcessHandle.allProcesses().filter(process -> isDaemonOf(process, store)))
                    .isNotEmpty()
                    .allSatisfy(process -> assertThat(Files.readString(Path.of("/proc/" + process.pid() + "/environ")))
                            .doesNotContain(SECRET));
            launch.signal("INT");
            assertThat(launch.exitCode()).isEqualTo(130);
        }
        assertThat(store).doesNotExist();
    }

    private static boolean isDaemonOf(ProcessHandle process, Path store) {
        try {
            List<String> words = List.of(Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"))
                    .split("\0", -1));
            return words.contains("serve") && words.contains(store.toString());
        } catch (IOException ended) {
            return false;
        }
    }

    @Test
    void ctrlCEndsAWaitForDataThatDoesNotCome() throws IOException {
        try (CommandProcess daemon = CommandProcess.serve()) {
            daemon.signal("STOP");
            try (CommandProcess launch =
                    CommandProcess.onStore(daemon.store(), "launch", "--data=train=" + source(), "--", "echo", "up")) {
                Awaitility.await().during(Duration.ofMillis(500)).until(() -> isConnected(launch.pid()));
                launch.signal("INT");

                assertThat(launch.exitCode()).isEqualTo(130);
                assertThat(launch.out()).isEmpty();
                assertThat(launch.err()).contains("larder: SIGINT", "larder: interrupted while waiting for the daemon");
            } finally {
                daemon.signal("CONT");
            }
        }
    }

    private static boolean isConnected(long pid) throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return descriptors.anyMatch(LaunchDataTest::isSocket);
        }
    }

    private static boolean isSocket(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    private static String launch(CommandProcess daemon, Path source, String script, int code) {
        try (CommandProcess launch =
                CommandProcess.onStore(daemon.store(), "launch", "--data=train=" + source, "--", "sh", "-c", script)) {
            assertThat(launch.exitCode()).as(launch.err()).isEqualTo(code);
            return launch.err();
        }
    }

    /** Returns how many bytes a process has read by system calls. */
    private static long readBytes(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/io")).stream()
                .filter(line -> line.startsWith("rchar: "))
                .mapToLong(line -> Long.parseLong(line.substring("rchar: ".length())))
                .sum();
    }
}
