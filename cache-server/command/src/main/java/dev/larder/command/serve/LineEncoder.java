package dev.larder.command.serve;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;

/** Writes each message as a line of UTF-8, in a log without a head or a foot. */
abstract class LineEncoder extends EncoderBase<ILoggingEvent> {
    private final ThrowableProxyConverter traces = new ThrowableProxyConverter();

    /** Returns the text of a message, with the end of its line. */
    abstract String text(ILoggingEvent event);

    /** Returns the stack trace of a message; empty if it has none. */
    final String trace(ILoggingEvent event) {
        return event.getThrowableProxy() == null ? "" : traces.convert(event);
    }

    @Override
    public final void start() {
        traces.start();
        super.start();
    }

    @Override
    public final byte[] headerBytes() {
        return new byte[0];
    }

    @Override
    public final byte[] footerBytes() {
        return new byte[0];
    }

    @Override
    public final byte[] encode(ILoggingEvent event) {
        return text(event).getBytes(StandardCharsets.UTF_8);
    }
}
