package dev.larder.command.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How many ranks are meant. */
class RankCountTest {
    @TempDir
    Path gpus;

    @ParameterizedTest
    @CsvSource({"3, 0, 3", "cpu, 2, 8", "gpu, 2, 2", "gpu, 0, 0", "auto, 2, 2", "auto, 0, 8", "x, 0, -1", "-1, 0, -1"})
    void ranksAreANumberOrWhatIsCounted(String text, int gpuCount, int ranks) {
        assertThat(RankCount.count(text, 8, gpuCount)).isEqualTo(ranks);
    }

    @Test
    void gpusAreThoseThatTheDriverListsAndTheVariableShows() throws IOException {
        Files.createDirectory(gpus.resolve("0000:01:00.0"));
        Files.createDirectory(gpus.resolve("0000:02:00.0"));

        assertThat(RankCount.gpus(null, gpus)).isEqualTo(2);
        assertThat(RankCount.gpus("1", gpus)).isEqualTo(1);
        assertThat(RankCount.gpus("0,1,2", gpus)).isEqualTo(2);
        assertThat(RankCount.gpus("0,-1,1", gpus)).isEqualTo(1);
        assertThat(RankCount.gpus("", gpus)).isZero();
        assertThat(RankCount.gpus(null, gpus.resolve("no-driver"))).isZero();
    }
}
