package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Checks the methods that ARCHITECTURE.md names for readers who are new to the code. */
class StartReadingTest {
    private static final Path DOCUMENT = Path.of("../../ops/docs/explanation/ARCHITECTURE.md");
    private static final Pattern METHOD =
            Pattern.compile("\\[`\\w+\\.(?<method>\\w+)`]\\((?<file>\\S+)#L(?<line>\\d+)\\)");

    @Test
    void theMethodsToStartWithAreWhereTheDocumentSaysTheyAre() throws IOException {
        List<MatchResult> methods =
                METHOD.matcher(Files.readString(DOCUMENT)).results().toList();

        assertThat(methods)
                .hasSize(5)
                .allSatisfy(method -> assertThat(lines(method))
                        .as("lines of %s that declare %s", method.group(2), method.group(1))
                        .contains(Integer.parseInt(method.group(3))));
    }

    /** Returns the lines that declare the method, counted from 1. */
    private static List<Integer> lines(MatchResult method) throws IOException {
        List<String> lines = Files.readAllLines(DOCUMENT.resolveSibling(method.group(2)));
        Pattern declaration = Pattern.compile(" {4}(\\w[^=;]* )" + method.group(1) + "\\([^;]*");
        return IntStream.rangeClosed(1, lines.size())
                .filter(line -> declaration.matcher(lines.get(line - 1)).matches())
                .boxed()
                .toList();
    }
}
