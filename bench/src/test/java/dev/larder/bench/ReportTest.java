package dev.larder.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Runs the tests of what compares reports, of what README quotes from one, and of the scripts that start trainers. */
class ReportTest {
    @Test
    void reportsAreComparedAndQuotedAsTheirTestsSay() throws Exception {
        Process tests = new ProcessBuilder(
                        "python3",
                        "-B",
                        "-W",
                        "error",
                        "-m",
                        "unittest",
                        "-v",
                        "test_compare",
                        "test_claims",
                        "test_trainers")
                .directory(new File("src/test/python"))
                .redirectErrorStream(true)
                .start();
        String output = new String(tests.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(tests.waitFor()).as(output).isZero();
        assertThat(output).containsPattern("Ran [1-9][0-9]* tests");
    }
}
