package dev.larder.bench.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.bench.gpu.Measurement.Verdict;
import org.junit.jupiter.api.Test;

class MeasurementTest {
    private final Measurement upload = Measurement.of("upload", "16 MiB", 50, "GB/s");

    @Test
    void aFigureIsJudgedByItsShareOfTheLimit() {
        assertThat(upload.beside(52, "CUDA").atLeast(0.95, true).verdict()).isEqualTo(Verdict.PASS);
        assertThat(upload.beside(53, "CUDA").atLeast(0.95, true).verdict()).isEqualTo(Verdict.FAIL);
        assertThat(upload.beside(53, "CUDA").share()).isEqualTo("94 %");
    }

    @Test
    void aTargetForAnotherMachineIsSaidButNotJudged() {
        Measurement finding = upload.beside(500, "CUDA").atLeast(0.95, false);

        assertThat(finding.verdict()).isEqualTo(Verdict.NOT_JUDGED);
        assertThat(finding.target()).isEqualTo(">= 95 %");
    }

    @Test
    void nothingIsJudgedByALimitThatIsUnknown() {
        assertThat(upload.atLeast(0.95, true).verdict()).isEqualTo(Verdict.NOT_JUDGED);
        assertThat(upload.share()).isEmpty();
    }

    @Test
    void aFigureMayBeAtMostItsTarget() {
        assertThat(upload.atMost(50, true).verdict()).isEqualTo(Verdict.PASS);
        assertThat(upload.atMost(49.9, true).verdict()).isEqualTo(Verdict.FAIL);
    }

    @Test
    void numbersHaveAsManyDigitsAsMeanSomething() {
        assertThat(Measurement.text(0.123)).isEqualTo("0.12");
        assertThat(Measurement.text(12.34)).isEqualTo("12.3");
        assertThat(Measurement.text(1234.4)).isEqualTo("1234");
        assertThat(Measurement.text(Double.NaN)).isEmpty();
    }
}
