package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sends long-lived commands the signals by which schedulers have a job save its state, or go on. */
class SchedulerSignalsTest {
    /** Resets signals that a shell may have left ignored, and moves the signal of the JVM as ops/launcher does. */
    private static final List<String> LIKE_THE_LAUNCHER = List.of("env", "--default-signal", "_JAVA_SR_SIGNUM=16");

    @TempDir
    Path folder;

    private static CommandProcess start(String... words) {
        return CommandProcess.by(LIKE_THE_LAUNCHER, LeavesNothingBehind.newStore(), words);
    }

    @ParameterizedTest
    @ValueSource(strings = {"USR1", "USR2", "XCPU", "CONT"})
    void ranksSaveTheirStateAndTheRunGoesOn(String signal) {
        String save = "trap 'echo saved; exit 0' " + signal + "; echo up; while :; do sleep 0.05; done";
        try (CommandProcess launch = start("launch", "-q", "-n", "2", "--", "sh", "-c", save)) {
            launch.awaitOut("[0] up").awaitOut("[1] up");

            launch.signal(signal);

            assertThat(launch.exitCode()).as(launch.err()).isZero();
            assertThat(launch.out()).contains("[0] saved", "[1] saved");
        }
    }

    @Test
    void aRankThatDoesNotHandleTheSignalEndsOfItAndIsNamed() {
        try (CommandProcess launch = start("launch", "--", "sh", "-c", "echo up; exec sleep 600")) {
            launch.awaitOut("up").signal("USR1");

            assertThat(launch.exitCode()).isEqualTo(138);
            assertThat(launch.err()).contains("a rank failed: rank=0 pid=", "cause=killed by SIGUSR1");
        }
    }

    @Test
    void jobsOfAGridSaveTheirState() {
        String out = folder.resolve("grid").toString();
        String save = "trap 'echo {n} > saved; exit 0' USR1; echo {n} > up; while :; do sleep 0.05; done";
        try (CommandProcess grid = start(
                "grid", "--devices", "1", "--out", out, "n=1", "--", "sh", "-c", "cd '" + folder + "'; " + save)) {
            await().until(() -> Files.exists(folder.resolve("up")));

            grid.signal("USR1");

            assertThat(grid.exitCode()).as(grid.err()).isZero();
            assertThat(folder.resolve("saved")).hasContent("1");
        }
    }

    @Test
    void aDaemonIsLeftAlone() {
        try (CommandProcess daemon = start("serve")) {
            daemon.awaitOut("Done caching.");
            List.of("USR1", "USR2", "XCPU").forEach(daemon::signal);

            assertThat(daemon.ask("status").code()).isZero();
            assertThat(daemon.signal("TERM").exitCode()).isZero();
        }
    }

    @Test
    void theLauncherMovesTheSignalOfTheJvmAndNamesTheCallersOwnForRanks() throws IOException {
        String become = "source ops/java-flags; source ops/launcher; find_archive() { archive=; };"
                + " java=$0; become_larder \"$1\" python launch -- true";
        Path java = Files.writeString(folder.resolve("java"), "#!/bin/sh\necho $_JAVA_SR_SIGNUM; echo \"$@\"\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        List<String> words = new ArrayList<>(List.of("bash", "-euc", become, java.toString(), folder.toString()));
        ProcessBuilder builder =
                new ProcessBuilder(words).directory(Path.of("../..").toFile()).redirectErrorStream(true);
        builder.environment().put("_JAVA_SR_SIGNUM", "40");

        Process process = builder.start();

        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .startsWith("16\n")
                .contains(" -Dlarder.caller._JAVA_SR_SIGNUM==40 ");
    }
}
