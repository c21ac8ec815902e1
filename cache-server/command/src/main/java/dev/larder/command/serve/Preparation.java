package dev.larder.command.serve;

import dev.larder.server.Daemon;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/** Makes ready what every daemon needs in a thread beside the one that reads the command line. */
public final class Preparation {
    private static final long PATIENCE_MS = 5_000;

    private static volatile @Nullable FutureTask<ILoggerFactory> logging;
    private static volatile @Nullable Thread preparing;

    private Preparation() {}

    /** Starts the thread; what it cannot do, the daemon itself will come upon and tell. */
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

    /** Waits until nothing is being prepared any more: what is in the middle of it when the JVM ends says so at length. */
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

    /** Waits for loggers, where they are being prepared: until they are, SLF4J hands out others. */
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
