package dev.larder.distributed.internal.meeting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.launch.process.AttemptResult;
import dev.larder.launch.process.LaunchListener;
import dev.larder.launch.process.LaunchPlan;
import dev.larder.launch.process.LaunchResult;
import dev.larder.launch.process.Launcher;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What our launcher says in the environment is what ranks meet by: two modules that know nothing of each other. */
class LaunchedRanksTest {
    @Test
    void ranksOfOneAttemptMeetWithOneKeyAndThoseOfTheNextWithAnother() {
        List<String> words = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                RankProgram.class.getName(),
                "env://",
                "failOnce");

        LaunchResult result = run(LaunchPlan.of(2, words).withMaxRestarts(1));

        assertThat(result.attempts()).hasSize(2);
        assertThat(keys(result.last())).hasSize(2);
        assertThat(keys(result.last()).distinct()).hasSize(1);
        assertThat(result.attempts().stream().flatMap(LaunchedRanksTest::keys).distinct())
                .hasSize(2);
    }

    private static LaunchResult run(LaunchPlan plan) {
        try (Launcher launcher = Launcher.start(plan, new LaunchListener() {})) {
            return launcher.join(Duration.ofSeconds(60));
        }
    }

    /** Returns the line with the key of each rank that has met the others. */
    private static Stream<String> keys(AttemptResult attempt) {
        return attempt.ranks().stream()
                .flatMap(rank -> rank.lastLines().stream())
                .filter(line -> line.startsWith("met "));
    }
}
