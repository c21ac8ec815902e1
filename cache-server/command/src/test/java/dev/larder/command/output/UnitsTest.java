package dev.larder.command.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class UnitsTest {
    @ParameterizedTest
    @CsvSource({"0, 0", "4096, 4096", "1k, 1024", "512m, 536870912", "10g, 10737418240", "2T, 2199023255552"})
    void sizesArePowersOf1024(String text, long bytes) {
        assertThat(Units.parseSize(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "m", "-1m", "1.5g", "1mb", "1 m", "0x10", "99999999t", "9999999999999999999"})
    void whatIsNoSizeIsRefused(String text) {
        assertThatThrownBy(() -> Units.parseSize(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'" + text + "'");
    }

    @ParameterizedTest
    @CsvSource({"250ms, PT0.25S", "30s, PT30S", "5m, PT5M", "2h, PT2H", "1d, PT24H", "0s, PT0S"})
    void durationsHaveUnits(String text, Duration duration) {
        assertThat(Units.parseDuration(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "30", "s", "-5s", "1.5h", "1w", "5 m", "9999999999999s"})
    void whatIsNoDurationIsRefused(String text) {
        assertThatThrownBy(() -> Units.parseDuration(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'" + text + "'");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1023, 1023 B",
        "1024, 1.0 KiB",
        "54950000, 52.4 MiB",
        "1073741823, 1.0 GiB",
        "1099511627776, 1.0 TiB",
        "9223372036854775807, 8388608.0 TiB"
    })
    void sizesAreShownInBinaryUnits(long bytes, String text) {
        assertThat(Units.size(bytes)).isEqualTo(text);
    }

    @Test
    void durationsAreShownInTheirTwoLargestUnits() {
        assertThat(Units.duration(Duration.ofMillis(420))).isEqualTo("0.4 s");
        assertThat(Units.duration(Duration.ofSeconds(200))).isEqualTo("3 min 20 s");
        assertThat(Units.duration(Duration.ofMinutes(125))).isEqualTo("2 h 5 min");
    }
}
