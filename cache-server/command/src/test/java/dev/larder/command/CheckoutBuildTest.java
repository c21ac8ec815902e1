package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Builds the command of a checkout, by a Maven that only plays its part. */
class CheckoutBuildTest {
    private static final String AWAIT = """
            source ../../ops/build-dist
            home=$1
            is_fresh() { [[ -e $home/fresh ]]; }
            exec {other}>"$home/lock"
            flock "$other"
            (exec {other}>&-; ensure_dist) 2>"$home/said" &
            until grep -qs "waiting for another build" "$home/said"; do sleep 0.02; done
            touch "$home/fresh"
            exec {other}>&-
            wait "$!"
            cat "$home/said"
            """;

    private static final String BUILD = """
            source ../../ops/build-dist
            home=$1 root=$1 PATH=$1/bin:$PATH
            newer_jdk() { :; }
            ensure_dist ${2:-} 2>&1
            """;

    private static final String MAVEN = """
            #!/bin/sh
            echo "$*" >"${0%/bin/mvn}/asked"
            echo "[INFO] Scanning for projects..."
            echo "[INFO] Building Larder messages 0.1.0-SNAPSHOT                           [2/22]"
            echo "[ERROR] A.java:[1,2] ';' expected"
            exit 1
            """;

    @TempDir
    Path folder;

    private String said(int code, String script, String... arguments) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(
                "timeout", "60", "bash", "-euo", "pipefail", "-c", script, "bash", folder.toString());
        builder.command().addAll(List.of(arguments));
        Process shell = builder.redirectErrorStream(true).start();
        String said = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(shell.waitFor()).as(said).isEqualTo(code);
        return said;
    }

    private void writeMaven() throws IOException {
        Path maven =
                Files.writeString(Files.createDirectory(folder.resolve("bin")).resolve("mvn"), MAVEN);
        assertThat(maven.toFile().setExecutable(true)).isTrue();
    }

    @Test
    void aBuildOfAnotherProcessIsAwaitedWithALine() throws IOException, InterruptedException {
        assertThat(said(0, AWAIT)).isEqualTo("larder: waiting for another build (log: " + folder + "/build.log)\n");
    }

    @Test
    void itTellsHowLongItTakesWhichModuleItBuildsAndWhyItFailed() throws IOException, InterruptedException {
        writeMaven();
        Path log = folder.resolve("build.log");

        assertThat(said(1, BUILD).lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .matches("larder: building \\(once, about \\d+ s if the machine is idle,.* log: " + log
                                        + "\\)"),
                        line -> assertThat(line).isEqualTo("larder: building 2/22: Larder messages"),
                        line -> assertThat(line).isEqualTo("[ERROR] A.java:[1,2] ';' expected"),
                        line -> assertThat(line).isEqualTo("larder: the build failed: log=" + log + "; see there"));
        assertThat(log).content().contains("Scanning for projects");
    }

    @Test
    void itTellsHowLongTheLastOneTook() throws IOException, InterruptedException {
        writeMaven();
        Files.writeString(folder.resolve("seconds"), "95\n");

        assertThat(said(1, BUILD)).startsWith("larder: building (once, the last build took 95 s; log: ");
    }

    @Test
    void examplesAreBuiltOnlyIfTheyAreAskedFor() throws IOException, InterruptedException {
        writeMaven();

        said(1, BUILD);
        assertThat(folder.resolve("asked"))
                .content()
                .contains("cache-server/command", "readers/s3")
                .doesNotContain("examples");
        said(1, BUILD, "examples");
        assertThat(folder.resolve("asked")).content().contains("loader/examples");
    }
}
