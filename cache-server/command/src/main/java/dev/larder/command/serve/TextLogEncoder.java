package dev.larder.command.serve;

import ch.qos.logback.classic.spi.ILoggingEvent;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.function.Function;

/** Writes messages as lines for people. It is code because a pattern of logback's delays the start by the classes of all its words and of the locale. */
final class TextLogEncoder extends LineEncoder {
    private final Function<ILoggingEvent, String> prefix;
    private final boolean withTraces;

    private TextLogEncoder(Function<ILoggingEvent, String> prefix, boolean withTraces) {
        this.prefix = prefix;
        this.withTraces = withTraces;
    }

    /** Creates one that writes messages as commands do. */
    static TextLogEncoder plain() {
        return new TextLogEncoder(event -> "larder: ", false);
    }

    /** Creates one that writes the time and the level of each message. */
    static TextLogEncoder timed(boolean withTraces) {
        return new TextLogEncoder(
                event -> String.format(
                        "%s %-5s ", Times.FORMAT.format(Instant.ofEpochMilli(event.getTimeStamp())), event.getLevel()),
                withTraces);
    }

    /** Loads its classes with the first message: many daemons have none. */
    private static final class Times {
        static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS", Locale.ROOT)
                .withZone(ZoneId.systemDefault());
    }

    @Override
    String text(ILoggingEvent event) {
        return prefix.apply(event) + event.getFormattedMessage() + "\n" + (withTraces ? trace(event) : "");
    }
}
