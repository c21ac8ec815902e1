package dev.larder.command.serve;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.encoder.EncoderBase;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
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
        StringWriter line = new StringWriter();
        try (JsonWriter json = new JsonWriter(line)) {
            json.beginObject()
                    .name("time")
                    .value(Instant.ofEpochMilli(event.getTimeStamp()).toString())
                    .name("level")
                    .value(event.getLevel().toString().toLowerCase(Locale.ROOT))
                    .name("logger")
                    .value(event.getLoggerName())
                    .name("message")
                    .value(event.getFormattedMessage());
            if (event.getThrowableProxy() != null) {
                json.name("error").value(traces.convert(event).strip());
            }
            json.endObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return (line + "\n").getBytes(StandardCharsets.UTF_8);
    }
}
