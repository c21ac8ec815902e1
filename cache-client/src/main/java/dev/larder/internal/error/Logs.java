package dev.larder.internal.error;

import java.util.Locale;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * Finds the loggers of this library: the user's, through SLF4J. A trainer without an SLF4J provider gets warnings and errors on
 * standard error, where SLF4J itself would print that it drops everything, whether there was something to say or not.
 */
public final class Logs {
    private Logs() {}

    /** Returns the logger of a class. */
    public static Logger of(Class<?> user) {
        return Provider.IS_THERE ? LoggerFactory.getLogger(user) : new WarningsOnly(user.getName());
    }

    /** Looked for once, when the first logger is needed. */
    private static final class Provider {
        static final boolean IS_THERE = isThere();

        private static boolean isThere() {
            return System.getProperty(LoggerFactory.PROVIDER_PROPERTY_KEY) != null
                    || ServiceLoader.load(SLF4JServiceProvider.class, LoggerFactory.class.getClassLoader())
                            .findFirst()
                            .isPresent();
        }
    }

    /** Prints what is serious enough, one line each. */
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
        @SuppressWarnings("SystemOut") // there is nowhere else
        protected void handleNormalizedLoggingCall(
                Level level,
                @Nullable Marker marker,
                String message,
                Object @Nullable [] arguments,
                @Nullable Throwable cause) {
            String text = arguments == null ? message : MessageFormatter.basicArrayFormat(message, arguments);
            System.err.println("larder: " + level.toString().toLowerCase(Locale.ROOT) + ": " + text
                    + (cause == null ? "" : ": " + cause));
        }
    }
}
