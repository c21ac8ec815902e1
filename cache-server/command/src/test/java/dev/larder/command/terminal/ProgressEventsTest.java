package dev.larder.command.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Progress.Phase;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressEventsTest {
    private final StringWriter text = new StringWriter();
    private final Duration[] now = {Duration.ofHours(3)};
    private final ProgressEvents events = new ProgressEvents(new PrintWriter(text, true), () -> now[0].toNanos());

    private List<JsonObject> events() {
        return text.toString()
                .lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .toList();
    }

    @Test
    void everyReportIsALineWithRateAndTimeLeft() {
        events.progress(new Progress(Phase.LOADING, "d", 0, 1000, 0, 4, ""));
        now[0] = now[0].plusSeconds(2);
        events.progress(new Progress(Phase.LOADING, "d", 500, 1000, 2, 4, ""));

        JsonObject last = events().get(1);
        assertThat(last.get("event").getAsString()).isEqualTo("progress");
        assertThat(last.get("phase").getAsString()).isEqualTo("loading");
        assertThat(last.get("filesDone").getAsLong()).isEqualTo(2);
        assertThat(last.get("bytesPerSecond").getAsLong()).isEqualTo(250);
        assertThat(last.get("etaSeconds").getAsDouble()).isEqualTo(2);
    }

    @Test
    void whatIsUnknownIsNull() {
        events.progress(Progress.of(Phase.SCANNING, "d", ""));

        JsonObject scanning = events().get(0);
        assertThat(scanning.get("bytesTotal").isJsonNull()).isTrue();
        assertThat(scanning.get("etaSeconds").isJsonNull()).isTrue();
    }

    @Test
    void eachPhaseHasARateOfItsOwn() {
        events.progress(new Progress(Phase.VERIFYING, "d", 0, 1000, 0, 1, ""));
        now[0] = now[0].plusSeconds(100);
        events.progress(new Progress(Phase.LOADING, "d", 0, 1000, 0, 1, ""));
        now[0] = now[0].plusSeconds(1);
        events.progress(new Progress(Phase.LOADING, "d", 100, 1000, 0, 1, ""));

        assertThat(events().get(2).get("bytesPerSecond").getAsLong()).isEqualTo(100);
    }

    @Test
    void theEndIsAnEventToo() {
        events.done(Done.of(3, 4096, "d is unchanged"));
        boolean said =
                events.problem(Failure.of(ErrorCode.BAD_INPUT, "cannot read").exception());

        assertThat(said).isTrue();
        assertThat(text.toString().lines())
                .containsExactly(
                        "{\"event\":\"done\",\"files\":3,\"bytes\":4096,\"message\":\"d is unchanged\"}",
                        "{\"event\":\"error\",\"code\":6,\"message\":\"cannot read\"}");
    }
}
