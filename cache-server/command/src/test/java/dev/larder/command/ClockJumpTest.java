package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/** A daemon whose machine's clock is set while it runs, as far as the JVM can tell. */
@Tag("slow")
class ClockJumpTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long DAY_SECONDS = TimeUnit.DAYS.toSeconds(1);
    private static final long WEEK_SECONDS = 7 * DAY_SECONDS;

    @TempDir
    Path folder;

    @Test
    void aClockThatIsSetNeitherEndsATimeToLiveNorMakesItLonger() throws Exception {
        Path offset = Files.writeString(folder.resolve("offset"), Long.toString(DAY_SECONDS));
        List<String> starter = List.of("env", "LD_PRELOAD=" + compiledClock(), "CLOCK_OFFSET=" + offset);
        Path store = LeavesNothingBehind.newStore();
        try (CommandProcess daemon = CommandProcess.by(starter, store, "serve").awaitOut("Done caching.")) {
            assertThat(started(store)).isAfter(Instant.now().plus(Duration.ofHours(23))); // it does see another clock
            daemon.ask("load", "lasting=" + Samples.vector(folder, "lasting", 5000), "--ttl", "1h");
            for (long seconds : new long[] {WEEK_SECONDS, -WEEK_SECONDS}) {
                Files.writeString(offset, Long.toString(seconds));
                assertThat(daemon.ask("load", "short=" + Samples.vector(folder, "short", 5000), "--ttl", "1s")
                                .code())
                        .isZero();

                await().atMost(PATIENCE).until(() -> !Files.isSymbolicLink(store.resolve("data/short/current")));
                assertThat(store.resolve("data/lasting/current")).isSymbolicLink();
            }
            assertThat(daemon.ask("stop").code()).isZero();
            assertThat(daemon.exitCode()).isZero();
        }
    }

    private static Instant started(Path store) throws IOException {
        return Files.readAllLines(store.resolve("daemon.lock")).stream()
                .filter(line -> line.startsWith("started="))
                .map(line -> Instant.parse(line.substring("started=".length())))
                .findFirst()
                .orElseThrow();
    }

    private Path compiledClock() throws InterruptedException {
        Path library = folder.resolve("clock.so");
        try {
            Process compiler = new ProcessBuilder(
                            "cc", "-shared", "-fPIC", "-o", library.toString(), "src/test/c/clock.c")
                    .inheritIO()
                    .start();
            assertThat(compiler.waitFor()).isZero();
            return library;
        } catch (IOException noCompiler) {
            throw new TestAbortedException("needs a C compiler: " + noCompiler);
        }
    }
}
