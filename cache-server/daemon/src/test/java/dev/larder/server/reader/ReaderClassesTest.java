package dev.larder.server.reader;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReaderClassesTest {
    @ParameterizedTest
    @CsvSource({
        "/home/u, '', /home/u/.cache/larder",
        "/home/u, /var/cache/larder, /var/cache/larder/larder",
        "'', /var/cache/larder, /var/cache/larder/larder",
        "'', '', /opt/larder/archive",
        "/home/u, relative, /opt/larder/archive",
        "relative, '', /opt/larder/archive",
    })
    void theUsersCacheIsThatOfTheLauncher(String home, String cache, Path expected) {
        Map<String, String> environment = Map.of("HOME", home, "XDG_CACHE_HOME", cache);

        assertThat(ReaderClasses.cache(environment, Path.of("/opt/larder/archive")))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"/home/u, /home/u/.cache/larder", "'', /opt/larder/archive"})
    void withoutAVariableForTheCacheItIsInTheHome(String home, Path expected) {
        Map<String, String> environment = home.isEmpty() ? Map.of() : Map.of("HOME", home);

        assertThat(ReaderClasses.cache(environment, Path.of("/opt/larder/archive")))
                .isEqualTo(expected);
    }
}
