package dev.larder.readers.parquet;

import java.text.MessageFormat;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * Gives the library a logger that prints warnings to standard error. That of the JDK reads its configuration first, which takes longer than to read a
 * small table. Found by {@link java.util.ServiceLoader}.
 */
public final class QuietLoggers extends System.LoggerFinder {
    private static final System.Logger LOGGER = new Warnings();

    @Override
    public System.Logger getLogger(String name, Module module) {
        return LOGGER;
    }

    private static final class Warnings implements System.Logger {
        @Override
        public String getName() {
            return "";
        }

        @Override
        public boolean isLoggable(Level level) {
            return level.compareTo(Level.WARNING) >= 0 && level != Level.OFF;
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle bundle, String message, @Nullable Throwable thrown) {
            if (isLoggable(level)) {
                System.err.println(message);
                if (thrown != null) {
                    thrown.printStackTrace();
                }
            }
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle bundle, String format, @Nullable Object... parameters) {
            if (isLoggable(level)) {
                System.err.println(parameters == null ? format : MessageFormat.format(format, parameters));
            }
        }
    }
}
