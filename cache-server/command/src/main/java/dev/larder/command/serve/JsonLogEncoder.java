package dev.larder.command.serve;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.encoder.EncoderBase;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;

/** Writes one JSON object a line. */
final class JsonLogEncoder extends EncoderBase<ILoggingEvent> {
    private final ThrowableProxyConverter traces = new ThrowableProxyConverter();

    @Override
    public void start() {
        traces.start();
        super.start();
    }

    @Override
    public byte[] headerBytes() {
        return new byte[0];
    }

    @Override
    public byte[] footerBytes() {
        return new byte[0];
    }

    @Override
    public byte[] encode(ILoggingEvent event) {
        JsonFields fields = new JsonFields()
                .with("time", Instant.ofEpochMilli(event.getTimeStamp()))
                .with("level", event.getLevel().toString().toLowerCase(Locale.ROOT))
                .with("logger", event.getLoggerName())
                .with("message", event.getFormattedMessage());
        if (event.getThrowableProxy() != null) {
            fields.with("error", traces.convert(event).strip());
        }
        return (Json.line(fields) + "\n").getBytes(StandardCharsets.UTF_8);
    }
}
