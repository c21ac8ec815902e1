package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each row of SECURITY.md's table of who may try what names tests, which there are. */
class SecurityTableTest {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
    private static final Pattern TEST = Pattern.compile("`(\\w+Test)#(\\w+)`");
    private static final int COLUMNS = 4;

    @Test
    void everyRowNamesTestsThatThereAre() throws IOException {
        List<String[]> rows = Files.readAllLines(ROOT.resolve("ops/docs/reference/SECURITY.md")).stream()
                .dropWhile(line -> !line.startsWith("| by which way |"))
                .skip(2)
                .takeWhile(line -> line.startsWith("|"))
                .map(line -> line.substring(1, line.length() - 1).split("\\|", -1))
                .toList();
        Map<String, String> tests = tests();

        assertThat(rows).hasSizeGreaterThan(20).allSatisfy(row -> {
            assertThat(row).hasSize(COLUMNS);
            if (row[1].isBlank()) {
                assertThat(row[0]).as("a heading").contains("**");
            } else {
                assertThat(named(row[COLUMNS - 1])).as(row[0]).isNotEmpty().allSatisfy(named -> {
                    String[] test = named.split("#", -1);
                    assertThat(tests.get(test[0])).as(named).isNotNull().contains(" void " + test[1] + "(");
                });
            }
        });
    }

    private static List<String> named(String cell) {
        return TEST.matcher(cell)
                .results()
                .map(found -> found.group(1) + "#" + found.group(2))
                .toList();
    }

    /** Returns the sources of all tests by the names of their classes. */
    private static Map<String, String> tests() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().contains("/src/test/java/")
                            && file.toString().endsWith("Test.java"))
                    .map(SecurityTableTest::read)
                    .collect(Collectors.toMap(file -> file.get(0), file -> file.get(1), (one, other) -> one + other));
        }
    }

    private static List<String> read(Path file) {
        try {
            String name = file.getFileName().toString();
            return List.of(name.substring(0, name.length() - ".java".length()), Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
