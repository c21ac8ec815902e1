package dev.larder.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the tests of the scripts that measure, make reports, compare two, and quote one in README. */
@Tag("slow")
class ReportTest {
    @ParameterizedTest
    @ValueSource(strings = {"test_compare", "test_claims", "test_trainers", "test_soak", "test_report", "test_parts"})
    void scriptsDoAsTheirTestsSay(String tests) throws Exception {
        Process process = new ProcessBuilder("python3", "-B", "-W", "error", "-m", "unittest", "-v", tests)
                .directory(new File("src/test/python"))
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output).containsPattern("Ran [1-9][0-9]* tests?");
        assumeThat(output).as("numpy or matplotlib is not there").doesNotContain("(skipped=");
    }
}
