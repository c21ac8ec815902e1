package dev.larder.command.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.LoadRequest;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StandardInputTest {
    @Test
    void everyLineIsASourceOfTheSameName() {
        List<LoadRequest.Source> sources = List.of(new LoadRequest.Source("other", "/x"), source());

        assertThat(StandardInput.expand(sources, input("/a/b.npy\r\n\n/ä c.npz\nrelative.npy")))
                .containsExactly(
                        new LoadRequest.Source("other", "/x"),
                        new LoadRequest.Source("d", "/a/b.npy"),
                        new LoadRequest.Source("d", "/ä c.npz"),
                        new LoadRequest.Source(
                                "d", Path.of("relative.npy").toAbsolutePath().toString()));
    }

    @Test
    void nothingIsReadWhereNoSourceAsksForIt() {
        List<LoadRequest.Source> sources = List.of(new LoadRequest.Source("other", "/x"));

        assertThat(StandardInput.expand(sources, InputStream.nullInputStream())).isEqualTo(sources);
    }

    @ParameterizedTest
    @CsvSource({"'',lists no path", "'\n \n',lists no path", "\u0093NUMPY\u0001,'has a .npy file'"})
    void anInputWithoutPathsIsRefused(String text, String reason) {
        InputStream input = new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));

        assertThatThrownBy(() -> StandardInput.expand(List.of(source()), input))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining(reason);
    }

    @Test
    void bytesThatAreNoTextAreRefused() {
        InputStream input = new ByteArrayInputStream(new byte[] {'a', (byte) 0xff, '\n'});

        assertThatThrownBy(() -> StandardInput.expand(List.of(source()), input))
                .hasMessageContaining("cannot read standard input");
    }

    @Test
    void onlyOneSourceCanComeFromStandardInput() {
        assertThatThrownBy(() -> StandardInput.expand(List.of(source(), source()), input("/x")))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.USAGE));
    }

    private static LoadRequest.Source source() {
        return new SourceConverter().convert("d=-");
    }

    private static InputStream input(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }
}
