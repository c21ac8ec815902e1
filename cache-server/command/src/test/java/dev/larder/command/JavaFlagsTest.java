package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The flags stand in the parent pom for tests and in a file for the scripts: both must say the same. */
class JavaFlagsTest {
    private static final Path ROOT = Path.of("..", "..");

    private static List<String> words(Path file, String pattern) throws IOException {
        Matcher matcher = Pattern.compile(pattern, Pattern.DOTALL).matcher(Files.readString(ROOT.resolve(file)));
        assertThat(matcher.find()).isTrue();
        return List.of(matcher.group(1).strip().split("\\s+"));
    }

    @Test
    void theScriptsUseTheFlagsOfThePom() throws IOException {
        assertThat(words(Path.of("ops/java-flags"), "CHRONICLE_FLAGS=\\((.*?)\\)"))
                .isEqualTo(words(Path.of("pom.xml"), "<chronicle.flags>(.*?)</chronicle.flags>"));
        assertThat(words(Path.of("ops/java-flags"), "JDK24_FLAGS=\\((.*?)\\)"))
                .isEqualTo(words(Path.of("pom.xml"), "<larder.jdk.flags>(-.*?)</larder.jdk.flags>"));
    }

    @Test
    void everyJavaThatIsStartedLeavesNoPerformanceDataInTheTemporaryFolder() throws IOException {
        List<Path> starters = new ArrayList<>();
        for (String part : new String[] {"command/src/main", "daemon/src/main"}) {
            try (Stream<Path> files = Files.walk(Path.of("..", part))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    if (file.toString().endsWith(".java")
                            && Files.readString(file).contains("\"-XX:+UseSerialGC\"")) {
                        starters.add(file);
                    }
                }
            }
        }

        assertThat(starters)
                .hasSizeGreaterThanOrEqualTo(4)
                .allSatisfy(file -> assertThat(Files.readString(file)).contains("\"-XX:-UsePerfData\""));
    }
}
