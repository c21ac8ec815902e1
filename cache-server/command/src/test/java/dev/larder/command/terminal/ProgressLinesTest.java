package dev.larder.command.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Progress.Phase;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressLinesTest {
    private static final long MIB = 1 << 20;

    private final StringWriter text = new StringWriter();
    private final Duration[] now = {Duration.ofHours(3)};
    private final ProgressLines lines = new ProgressLines(new PrintWriter(text, true), () -> now[0].toNanos());

    private static Progress loading(long done) {
        return new Progress(Phase.LOADING, "mnist", done, 100 * MIB, 0, 4, "");
    }

    private void tell(Duration later, Progress progress) {
        now[0] = now[0].plus(later);
        lines.progress(progress);
    }

    private List<String> lines() {
        return text.toString().lines().toList();
    }

    @Test
    void eachPhaseIsSaidOnce() {
        tell(Duration.ZERO, Progress.of(Phase.SCANNING, "mnist", ""));
        tell(Duration.ofSeconds(1), loading(0));
        tell(Duration.ofSeconds(1), loading(10 * MIB));

        assertThat(lines()).containsExactly("larder: scanning mnist", "larder: loading mnist: 0 B of 100.0 MiB (0 %)");
    }

    @Test
    void aLongPhaseIsSaidAgainEveryFewSecondsWithItsRate() {
        tell(Duration.ZERO, loading(0));
        tell(Duration.ofSeconds(6), loading(30 * MIB));
        tell(Duration.ofSeconds(2), loading(40 * MIB));

        assertThat(lines())
                .containsExactly(
                        "larder: loading mnist: 0 B of 100.0 MiB (0 %)",
                        "larder: loading mnist: 30.0 MiB of 100.0 MiB (30 %), 0 of 4 files, 5.0 MiB/s, 14.0 s left");
    }

    @Test
    void whatIsAsItWasIsNotSaidAgain() {
        Progress waiting = Progress.of(Phase.SCANNING, "mnist", "");

        tell(Duration.ZERO, waiting);
        tell(Duration.ofSeconds(6), waiting);
        tell(Duration.ofSeconds(6), waiting);
        tell(
                Duration.ofSeconds(6),
                new Progress(Phase.SCANNING, "mnist", 0, Progress.UNKNOWN, 7, Progress.UNKNOWN, ""));

        assertThat(lines()).containsExactly("larder: scanning mnist", "larder: scanning mnist: 7 files");
    }

    @Test
    void messagesAreNotRepeated() {
        Progress message = Progress.of(Phase.SCANNING, "", "skipped 3 files of no known kind");

        tell(Duration.ZERO, message);
        tell(Duration.ofSeconds(1), message);

        assertThat(lines()).containsExactly("larder: skipped 3 files of no known kind", "larder: scanning");
    }

    @Test
    void unknownTotalsAreLeftOut() {
        tell(Duration.ZERO, new Progress(Phase.OTHER, "", 5 * MIB, Progress.UNKNOWN, 0, Progress.UNKNOWN, ""));

        assertThat(lines()).containsExactly("larder: working: 5.0 MiB");
    }
}
