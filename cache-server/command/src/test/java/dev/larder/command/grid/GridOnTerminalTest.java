package dev.larder.command.grid;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonNull;
import dev.larder.launch.grid.GridJob;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class GridOnTerminalTest {
    private final AtomicLong clock = new AtomicLong();
    private final StringWriter drawn = new StringWriter();
    private final GridOnTerminal table = new GridOnTerminal(new PrintWriter(drawn), 5, 1, clock::get);

    private static GridJob job(int number) {
        return new GridJob(number, Map.of("x", "v" + number), List.of("t"));
    }

    private static JobRecord record(JobState state, String cause) {
        return new JobRecord(state, 1, "0", 1, cause, Duration.ofSeconds(3), JsonNull.INSTANCE);
    }

    @Test
    void whatRunsAndWhatHasFailedIsShownWithItsLastLine() {
        table.started(job(2), record(JobState.RUNNING, ""));
        table.started(job(3), record(JobState.RUNNING, ""));
        table.started(job(4), record(JobState.RUNNING, ""));
        table.line(job(2), "\u001b[32mepoch 7\u001b[0m");
        table.ended(job(3), record(JobState.FAILED, "exit code 1"));
        table.ended(job(4), record(JobState.DONE, "done"));
        clock.set(2_000_000_000L);

        assertThat(table.lines())
                .containsExactly(
                        "larder: 2 of 5 done, 1 running, 1 failed, 2.0 s",
                        "JOB  PARAMETERS  STATE    DEVICE   TIME  LAST LINE",
                        "  2  x=v2        running  0       2.0 s  epoch 7",
                        "  3  x=v3        failed   0       3.0 s  exit code 1");
    }

    @Test
    void itIsDrawnOverItselfAndTakenAwayAtLast() {
        table.refresh();
        table.refresh();
        table.close();

        assertThat(drawn.toString()).contains("\u001b[2A\r\u001b[J").endsWith("\u001b[2A\r\u001b[J");
    }
}
