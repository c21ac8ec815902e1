package dev.larder.bench.gpu;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class GpuCheckTest {
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @TempDir
    Path folder;

    private int run(String... words) throws Exception {
        return GpuCheck.run(words, new PrintStream(printed, true, UTF_8));
    }

    @Tag("slow")
    @Test
    void batchesOfTheDeviceAreThoseOfTheHostAndNothingIsLeft() throws Exception {
        Path json = folder.resolve("found.json");
        Path store = Files.createDirectory(folder.resolve("store"));

        int code = run("--quick", "--only", "exact", "--store-in", store.toString(), "--json", json.toString());

        assertThat(code).as(printed.toString(UTF_8)).isZero();
        assertThat(printed.toString(UTF_8)).contains("14 pass, 0 fail");
        assertThat(json).content().contains("\"verdict\": \"pass\"").doesNotContain("\"verdict\": \"fail\"");
        assertThat(store).isEmptyDirectory();
    }

    @Test
    void wrongWordsAreRefusedWithTheUsage() throws Exception {
        assertThat(run("--only", "nonsense")).isEqualTo(2);
        assertThat(run("--json")).isEqualTo(2);
        assertThat(run("--what")).isEqualTo(2);
        assertThat(printed.toString(UTF_8)).contains("usage:", "upload", "option without a value");
    }
}
