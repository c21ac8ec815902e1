package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.ChildJvm;
import dev.larder.testing.LeavesNothingBehind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Some rounds of the fault matrix; all of it is {@code bench/soak/matrix}. */
@Tag("slow")
class FaultMatrixTest {
    private static final Path SOAK =
            Path.of("../../bench/soak").toAbsolutePath().normalize();
    private static final List<String> SHORT =
            List.of("--seed", "20261121", "--rounds", "9", "--seconds", "20", "--stop-seconds", "0.5", "--verbose");
    private static final int PATIENCE_S = 240;

    @TempDir
    Path folder;

    @Test
    void whateverDiesOrStopsTheStoreStaysAsItShouldBe() throws Exception {
        Path out = folder.resolve("out");
        Process process =
                matrix().redirectErrorStream(true).redirectOutput(out.toFile()).start();
        try {
            assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        String said = Files.readString(out, StandardCharsets.UTF_8);
        assertThat(process.exitValue()).as(said).isZero();
        assertThat(said).contains(" trouble=0").endsWith("OK\n");
    }

    private static ProcessBuilder matrix() {
        List<String> words = new ArrayList<>(List.of("python3", "-B", "-X", "utf8"));
        words.add(SOAK.resolve("matrix.py").toString());
        words.addAll(SHORT);
        words.addAll(List.of("--store", LeavesNothingBehind.newStore().toString()));
        words.addAll(List.of(
                "--java",
                Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        ProcessBuilder matrix = new ProcessBuilder(words);
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        matrix.environment().put("LARDER_SOAK_CLASS_PATH", classPath);
        matrix.environment().put("LARDER_SOAK_DAEMON_FLAGS", String.join(" ", ChildJvm.libraryFlags()));
        return matrix;
    }
}
