package dev.larder.bench.gpu;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

class ReportTest {
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final Report report = new Report(new PrintStream(printed, true, UTF_8));

    @Test
    void aLineIsPrintedWhenItIsKnown() {
        report.add(Measurement.of("upload", "16 MiB", 50, "GB/s")
                .beside(52, "CUDA")
                .atLeast(0.95, true));

        assertThat(printed.toString(UTF_8)).contains("16 MiB", "50 GB/s", "96 %", ">= 95 %", "pass", "CUDA");
    }

    @Test
    void theEndSaysWhetherAnythingFailed() {
        report.add(Measurement.notApplicable("cuda", "upload", "no libcuda"));
        assertThat(report.end()).as("nothing was measured").isEqualTo(3);

        report.add(Measurement.holds("exact", "bytes", true, ""));
        assertThat(report.end()).isZero();

        report.add(Measurement.holds("exact", "bytes", false, ""));
        assertThat(report.end()).isEqualTo(1);
    }

    @Test
    void jsonHasNullForWhatIsNoNumberAndQuotesText() {
        report.machine("device", "a \"fast\" one\n");
        report.add(Measurement.of("upload", "16 MiB", 50.5, "GB/s"));

        assertThat(report.json())
                .contains("\"device\": \"a \\\"fast\\\" one \"")
                .contains("\"value\": 50.5, \"unit\": \"GB/s\", \"limit\": null")
                .contains("\"verdict\": \"reported\"");
    }
}
