package dev.larder.internal.error;

import java.util.Locale;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * Creates the loggers of this library, through SLF4J. Without an SLF4J provider, warnings and errors go to standard error.
 * SLF4J itself would print a warning there, even if nothing is logged.
 */
public final class Logs {
    private Logs() {}

    /** Returns the logger of a class. */
    public static Logger of(Class<?> user) {
        return Provider.IS_THERE ? LoggerFactory.getLogger(user) : new WarningsOnly(user.getName());
    }

    /** Looks for a provider once, when the first logger is needed. */
    private static final class Provider {
        static final boolean IS_THERE = isThere();

        private static boolean isThere() {
            return System.getProperty(LoggerFactory.PROVIDER_PROPERTY_KEY) != null
                    || ServiceLoader.load(SLF4JServiceProvider.class, LoggerFactory.class.getClassLoader())
                            .findFirst()
                            .isPresent();
        }
    }

    /** Prints warnings and errors, one line each. */
    private static final class WarningsOnly extends LegacyAbstractLogger {
        private static final long serialVersionUID = 1;

        WarningsOnly(String name) {
            this.name = name;
        }

        @Override
        public boolean isTraceEnabled() {
            return false;
        }

        @Override
        public boolean isDebugEnabled() {
            return false;
        }

        @Override
        public boolean isInfoEnabled() {
            return false;
        }

        @Override
        public boolean isWarnEnabled() {
            return true;
        }

        @Override
        public boolean isErrorEnabled() {
            return true;
        }

        @Override
        protected @Nullable String getFullyQualifiedCallerName() {
            return null;
        }

        @Override
        @SuppressWarnings("SystemOut") // the only output without a provider
        protected void handleNormalizedLoggingCall(
                Level level,
                @Nullable Marker marker,
                String message,
                Object @Nullable [] arguments,
                @Nullable Throwable cause) {
            String text = arguments == null ? message : MessageFormatter.basicArrayFormat(message, arguments);
            System.err.println("larder: " + level.toString().toLowerCase(Locale.ROOT) + ": " + text
                    + (cause == null ? "" : ": " + cause + place(cause)));
        }

        /** Returns the first place outside this library, for instance of the call that opened a dataset. */
        private static String place(Throwable cause) {
            return Stream.of(cause.getStackTrace())
                    .filter(frame -> !frame.getClassName().startsWith("dev.larder."))
                    .findFirst()
                    .map(frame -> " at " + frame)
                    .orElse("");
        }
    }
}
