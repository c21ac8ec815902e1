package dev.larder.command.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.protocol.LoadRequest.Source;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class ConvertersTest {
    private final SourceConverter sources = new SourceConverter();
    private final WorkersConverter workers = new WorkersConverter();

    @Test
    void aSourceIsSplitAtTheFirstEqualsSign() {
        assertThat(sources.convert("mnist=/data/epoch=3/x.npy")).isEqualTo(new Source("mnist", "/data/epoch=3/x.npy"));
    }

    @Test
    void aRelativePathBecomesAbsolute() {
        assertThat(sources.convert("a=some/./file.npy").path())
                .isEqualTo(Path.of("some/file.npy").toAbsolutePath().toString());
    }

    @Test
    void stepsToTheParentStayAsASymbolicLinkMayStandBeforeThem() {
        assertThat(sources.convert("a=/link/../file.npy").path()).isEqualTo("/link/../file.npy");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "=", "name", "name=", "=/path"})
    void whatIsNoSourceIsRefused(String text) {
        assertThatThrownBy(() -> sources.convert(text)).isInstanceOf(TypeConversionException.class);
    }

    @Test
    void anAddressWithoutANameIsRefusedAndItsSecretsAreNotSaid() {
        assertThatThrownBy(() -> sources.convert("https://me:hush@host/x.npy?sig=hush"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'https://host/x.npy'")
                .hasMessageNotContaining("hush");
    }

    @ParameterizedTest
    @CsvSource({"auto, 0", "-1, 0", "1, 1", "64, 64", "65534, 65534"})
    void workersAreANumberOrAuto(String text, int number) {
        assertThat(workers.convert(text)).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-2", "65535", "two", "1.0", "99999999999"})
    void whatIsNoNumberOfWorkersIsRefused(String text) {
        assertThatThrownBy(() -> workers.convert(text)).isInstanceOf(TypeConversionException.class);
    }
}
