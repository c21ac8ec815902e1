package dev.larder.command.serve;

import dev.larder.server.Daemon;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/** Starts slow parts of a daemon on a second thread while the first one parses the command line. */
public final class Preparation {
    private static final long PATIENCE_MS = 5_000;

    private static volatile @Nullable FutureTask<ILoggerFactory> logging;
    private static volatile @Nullable Thread preparing;

    private Preparation() {}

    /** Starts the thread. The daemon repeats failed steps and reports their failures. */
    public static void start() {
        FutureTask<ILoggerFactory> loggers = new FutureTask<>(LoggerFactory::getILoggerFactory);
        logging = loggers;
        Thread thread = new Thread(
                () -> {
                    loggers.run();
                    Daemon.prepare();
                },
                "larder-prepare");
        thread.setUncaughtExceptionHandler((self, failure) -> {});
        thread.setDaemon(true);
        preparing = thread;
        thread.start();
    }

    /** Waits for the end of the thread: a JVM that exits during its work prints long stack traces. */
    public static void awaitEnd() {
        Thread thread = preparing;
        if (thread == null) {
            return;
        }
        try {
            thread.join(PATIENCE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until the loggers are ready: before that, SLF4J returns substitutes. */
    public static void awaitLogging() {
        FutureTask<ILoggerFactory> loggers = logging;
        if (loggers == null) {
            return;
        }
        try {
            loggers.get();
        } catch (ExecutionException failure) {
            throw new IllegalStateException("cannot log", failure.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
