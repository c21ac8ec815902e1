package dev.larder.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import java.util.Locale;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** How the daemon's log looks on standard error; instead of what {@link QuietLogging} set up for every command. */
final class DaemonLogging {
    private static final String PATTERN = "%d{yyyy-MM-dd HH:mm:ss.SSS} %-5level %msg";

    /** What a log may tell. */
    enum Detail {
        ERROR,
        WARN,
        INFO,
        DEBUG
    }

    @Option(names = "--log-json", description = "Log one JSON object a line: time, level, logger, message, error.")
    boolean json;

    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            defaultValue = "warn",
            description = "error, warn (default), info or debug; info tells of loads, evictions and the end.")
    Detail level;

    /** Takes effect for everything that is logged from now on. */
    void apply(boolean withTraces) {
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        if (!(factory instanceof LoggerContext context)) {
            return; // somebody put another library on the class path, and configures that
        }
        Encoder<ILoggingEvent> encoder = json ? new JsonLogEncoder() : text(withTraces || level == Detail.DEBUG);
        encoder.setContext(context);
        encoder.start();
        ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
        appender.setContext(context);
        appender.setTarget("System.err");
        appender.setEncoder(encoder);
        appender.start();
        ch.qos.logback.classic.Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.detachAndStopAllAppenders();
        root.addAppender(appender);
        context.getLogger("dev.larder").setLevel(Level.toLevel(level.name().toUpperCase(Locale.ROOT)));
    }

    private static Encoder<ILoggingEvent> text(boolean withTraces) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setPattern(PATTERN + (withTraces ? "%n%ex" : "%n%nopex"));
        return encoder;
    }
}
