package dev.larder.command.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.protocol.LoadOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class DataSourceTest {
    private final DataSource.Converter converter = new DataSource.Converter();

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {",as=images,shard", ",shard,as=images"})
    void suffixesComeInAnyOrder(String suffixes) {
        DataSource data = converter.convert("a=" + folder + suffixes);

        assertThat(data.source().path()).isEqualTo(folder.toString());
        assertThat(data.as()).isEqualTo(LoadOptions.As.IMAGES);
        assertThat(data.isShard()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                ",shards; no such suffix: ',shards'",
                ",images; no such suffix: ',images'",
                ",whole,shard; one suffix too many: ',whole'",
                ",as=bytes,as=images; one suffix too many: ',as=bytes'",
                ",as=pictures; not a kind of column: 'as=pictures'",
            })
    void whatIsNoSuffixIsNamed(String suffixes, String said) {
        assertThatThrownBy(() -> converter.convert("a=" + folder + suffixes))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining(said);
    }

    @Test
    void aPathMayHaveCommas() throws Exception {
        Path file = Files.createFile(folder.resolve("a,b"));

        assertThat(converter.convert("a=" + file).source().path()).isEqualTo(file.toString());
    }
}
