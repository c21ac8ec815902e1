package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.ChildJvm;
import dev.larder.testing.LeavesNothingBehind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Some rounds of the fault matrix; all of it is {@code bench/soak/matrix}. */
@ExtendWith(LeavesNothingBehind.class)
class FaultMatrixTest {
    private static final Path SOAK =
            Path.of("../../bench/soak").toAbsolutePath().normalize();
    private static final List<String> SHORT =
            List.of("--seed", "20261121", "--rounds", "18", "--seconds", "40", "--stop-seconds", "0.5", "--verbose");
    private static final int PATIENCE_S = 240;

    @TempDir
    Path folder;

    @Test
    void whateverDiesOrStopsTheStoreStaysAsItShouldBe() throws Exception {
        Path out = folder.resolve("out");
        ProcessBuilder matrix = new ProcessBuilder("python3", "-B", "-X", "utf8", SOAK.resolve("matrix.py") + "");
        matrix.command().addAll(SHORT);
        matrix.command().addAll(List.of("--java", Path.of(System.getProperty("java.home"), "bin", "java") + ""));
        matrix.command().addAll(List.of("--store", LeavesNothingBehind.newStore() + ""));
        matrix.environment()
                .put(
                        "LARDER_SOAK_CLASS_PATH",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        matrix.environment().put("LARDER_SOAK_DAEMON_FLAGS", String.join(" ", ChildJvm.libraryFlags()));

        Process process =
                matrix.redirectErrorStream(true).redirectOutput(out.toFile()).start();
        assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();

        String said = Files.readString(out, StandardCharsets.UTF_8);
        assertThat(process.exitValue()).as(said).isZero();
        assertThat(said).contains(" trouble=0").endsWith("OK\n");
    }
}
