package dev.larder.command.serve;

import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import java.time.Instant;
import java.util.Locale;

/** Writes one JSON object a line. */
final class JsonLogEncoder extends LineEncoder {
    @Override
    String text(ILoggingEvent event) {
        JsonFields fields = new JsonFields()
                .with("time", Instant.ofEpochMilli(event.getTimeStamp()))
                .with("level", event.getLevel().toString().toLowerCase(Locale.ROOT))
                .with("logger", event.getLoggerName())
                .with("message", event.getFormattedMessage());
        String trace = trace(event);
        if (!trace.isEmpty()) {
            fields.with("error", trace.strip());
        }
        return Json.line(fields) + "\n";
    }
}
