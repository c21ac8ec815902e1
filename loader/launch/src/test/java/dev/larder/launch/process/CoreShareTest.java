package dev.larder.launch.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How ranks share the cores of a machine. */
class CoreShareTest {
    private static Map<String, @Nullable String> environment(String... pairs) {
        Map<String, @Nullable String> environment = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            environment.put(pairs[i], pairs[i + 1]);
        }
        return environment;
    }

    @Test
    void everyRankGetsItsShareOfTheCores() {
        assertThat(new CoreShare(16, 4).variables(environment()))
                .containsEntry("OMP_NUM_THREADS", "4")
                .containsEntry("JDK_JAVA_OPTIONS", "-XX:ActiveProcessorCount=4")
                .containsEntry("POCL_MAX_PTHREAD_COUNT", "4")
                .containsEntry("POCL_CPU_MAX_CU_COUNT", "4");
    }

    @Test
    void withMoreRanksThanCoresThreadsAreOneAndAJvmIsToldNothing() {
        assertThat(new CoreShare(2, 4).variables(environment()))
                .containsEntry("OMP_NUM_THREADS", "1")
                .doesNotContainKey("JDK_JAVA_OPTIONS");
    }

    @Test
    void whatSomebodyHasSetStays() {
        assertThat(new CoreShare(8, 2)
                        .variables(environment(
                                "OMP_NUM_THREADS", "3",
                                "JDK_JAVA_OPTIONS", "-Xmx1g",
                                "POCL_CPU_MAX_CU_COUNT", "5")))
                .containsOnly(Map.entry("JDK_JAVA_OPTIONS", "-Xmx1g -XX:ActiveProcessorCount=4"));
        assertThat(new CoreShare(8, 2).variables(environment("JDK_JAVA_OPTIONS", "-XX:ActiveProcessorCount=7")))
                .doesNotContainKey("JDK_JAVA_OPTIONS");
    }

    @Test
    void aRankAloneKeepsAllCores() {
        assertThat(new CoreShare(8, 1).variables(environment())).isEmpty();
        assertThat(new CoreShare(8, 1).text(environment())).isEmpty();
    }

    @Test
    void whatIsDividedIsSaid() {
        assertThat(new CoreShare(8, 2).text(environment()))
                .startsWith("8 cores for 2 ranks, so each gets OMP_NUM_THREADS=4 JDK_JAVA_OPTIONS=");
    }
}
