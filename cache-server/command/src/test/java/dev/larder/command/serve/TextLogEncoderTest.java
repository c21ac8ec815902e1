package dev.larder.command.serve;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class TextLogEncoderTest {
    private final Throwable error = new IllegalStateException("why", new RuntimeException("root"));

    private String encode(TextLogEncoder encoder) {
        encoder.start();
        LoggingEvent event = new LoggingEvent(
                "caller",
                new LoggerContext().getLogger("dev.larder.server.Daemon"),
                Level.WARN,
                "lost {} of 100 % ü",
                error,
                new Object[] {1});
        return new String(encoder.encode(event), StandardCharsets.UTF_8);
    }

    @Test
    void aPlainMessageLooksAsThoseOfCommands() {
        assertThat(encode(TextLogEncoder.plain())).isEqualTo("larder: lost 1 of 100 % ü\n");
    }

    @Test
    void aTimedMessageHasTheLocalTimeAndTheLevel() {
        assertThat(encode(TextLogEncoder.timed(false)))
                .matches("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3} WARN  lost 1 of 100 % ü\n");
    }

    @Test
    void aTraceFollowsItsMessage() {
        assertThat(encode(TextLogEncoder.timed(true)))
                .containsPattern("100 % ü\njava.lang.IllegalStateException: why\n\tat ")
                .contains("Caused by: java.lang.RuntimeException: root\n")
                .endsWith("\n");
    }
}
