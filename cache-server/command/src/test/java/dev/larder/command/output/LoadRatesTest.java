package dev.larder.command.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Progress.Phase;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoadRatesTest {
    private long nanos;
    private final LoadRates rates = new LoadRates(() -> nanos);

    private LoadRow look(long bytesDone, long bytesTotal) {
        nanos += 1_000_000_000;
        return rates.rows(List.of(new Progress(Phase.LOADING, "a,b", bytesDone, bytesTotal, 1, 2, "")))
                .get(0);
    }

    @Test
    void twoLooksTellTheSpeedAndTheTimeLeft() {
        assertThat(Json.line(look(100, 1_000).fields()))
                .isEqualTo("{\"datasets\":[\"a\",\"b\"],\"phase\":\"loading\",\"bytesDone\":100,\"bytesTotal\":1000,"
                        + "\"filesDone\":1,\"filesTotal\":2,\"bytesPerSecond\":0,\"secondsLeft\":null}");

        LoadRow later = look(300, 1_000);

        assertThat(later.bytesPerSecond()).isEqualTo(200);
        assertThat(later.secondsLeft()).isEqualTo(3.5);
        assertThat(LoadRow.table(List.of(later)).get(1)).startsWith("a,b").contains("30", "200 B", "3.5 s");
    }

    @Test
    void aLoadThatComesAgainBeginsAnew() {
        look(100, 1_000);
        look(900, 1_000);
        rates.rows(List.of());

        assertThat(look(50, 1_000).bytesPerSecond()).isZero();
    }

    @Test
    void whatIsNotKnownIsNull() {
        assertThat(Json.line(look(0, Progress.UNKNOWN).fields())).contains("\"bytesTotal\":null");
        assertThat(LoadRow.table(List.of(look(0, Progress.UNKNOWN))).get(1)).contains("  -  ");
    }
}
