package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Launches ranks with data that is loaded before they start. */
class LaunchDataTest {
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
