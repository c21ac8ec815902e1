package dev.larder.command.serve;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JsonLogEncoderTest {
    private final LoggerContext context = new LoggerContext();

    private String encode(String message, @Nullable Throwable error, Object... arguments) {
        JsonLogEncoder encoder = new JsonLogEncoder();
        encoder.start();
        LoggingEvent event = new LoggingEvent(
                "caller", context.getLogger("dev.larder.server.Daemon"), Level.WARN, message, error, arguments);
        return new String(encoder.encode(event), StandardCharsets.UTF_8);
    }

    @Test
    void oneLineIsOneObject() {
        String line = encode("lost {} of\n\"{}\" ü", null, 1, 2);

        JsonObject event = JsonParser.parseString(line).getAsJsonObject();
        assertThat(line).endsWith("}\n").hasLineCount(1);
        assertThat(event.keySet()).containsExactly("time", "level", "logger", "message");
        assertThat(Instant.parse(event.get("time").getAsString()))
                .isBefore(Instant.now().plusSeconds(1));
        assertThat(event.get("level").getAsString()).isEqualTo("warn");
        assertThat(event.get("logger").getAsString()).isEqualTo("dev.larder.server.Daemon");
        assertThat(event.get("message").getAsString()).isEqualTo("lost 1 of\n\"2\" ü");
    }

    @Test
    void anErrorBringsItsTrace() {
        String line = encode("failed", new IllegalStateException("why", new RuntimeException("root")));

        String error =
                JsonParser.parseString(line).getAsJsonObject().get("error").getAsString();
        assertThat(line).hasLineCount(1);
        assertThat(error).startsWith("java.lang.IllegalStateException: why").contains("\tat ", "root");
    }
}
