package dev.larder.command.serve;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.rolling.FixedWindowRollingPolicy;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy;
import ch.qos.logback.core.util.FileSize;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** Options of the daemon's log, which replace the defaults of {@link QuietLogging}. */
public final class DaemonLogging {
    private static final long LONGEST_FILE_BYTES = 4 << 20;

    /** The levels of a log. */
    enum Detail {
        ERROR,
        WARN,
        INFO,
        DEBUG
    }

    @Option(
            names = "--log-json",
            description = "Log as JSON, one object a line: time, level, logger, message, error. All that the daemon"
                    + " would print is an entry of the log, without the token; progress is left out.")
    boolean json;

    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            defaultValue = "warn",
            description = "error, warn (default), info or debug; info adds loads, evictions and the stop.")
    Detail level;

    @Option(
            names = "--log-file",
            paramLabel = "FILE",
            description = "Also log to this file, which --detach needs to show its log. It takes a few MiB at most;"
                    + " the older half is FILE.1.")
    @Nullable
    Path file;

    /** Returns whether the log is JSON. */
    public boolean isJson() {
        return json;
    }

    /** Configures the loggers; with stack traces if {@code withTraces}. */
    public void apply(boolean withTraces) {
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        if (!(factory instanceof LoggerContext context)) {
            return; // another logging library is on the class path, with its own configuration
        }
        ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
        console.setTarget("System.err");
        start(console, context, withTraces);
        ch.qos.logback.classic.Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.detachAndStopAllAppenders();
        root.addAppender(console);
        if (file != null) {
            root.addAppender(toFile(file, context, withTraces));
        }
        context.getLogger("dev.larder").setLevel(Level.toLevel(level.name().toUpperCase(Locale.ROOT)));
    }

    private void start(OutputStreamAppender<ILoggingEvent> appender, LoggerContext context, boolean withTraces) {
        Encoder<ILoggingEvent> encoder =
                json ? new JsonLogEncoder() : TextLogEncoder.timed(withTraces || level == Detail.DEBUG);
        encoder.setContext(context);
        encoder.start();
        appender.setContext(context);
        appender.setEncoder(encoder);
        appender.start();
    }

    private RollingFileAppender<ILoggingEvent> toFile(Path path, LoggerContext context, boolean withTraces) {
        RollingFileAppender<ILoggingEvent> appender = new RollingFileAppender<>();
        appender.setFile(path.toString());
        FixedWindowRollingPolicy rolling = new FixedWindowRollingPolicy();
        rolling.setContext(context);
        rolling.setParent(appender);
        rolling.setMinIndex(1);
        rolling.setMaxIndex(1);
        rolling.setFileNamePattern(path + ".%i");
        SizeBasedTriggeringPolicy<ILoggingEvent> full = new SizeBasedTriggeringPolicy<>();
        full.setContext(context);
        full.setMaxFileSize(new FileSize(LONGEST_FILE_BYTES));
        appender.setRollingPolicy(rolling);
        appender.setTriggeringPolicy(full);
        appender.setContext(context);
        rolling.start();
        full.start();
        start(appender, context, withTraces);
        if (!appender.isStarted()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot log to the file")
                    .with("file", path)
                    .remedy("name one that can be written, without %");
        }
        return appender;
    }
}
