package dev.larder.command.program;

import dev.larder.internal.posix.Posix;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * The lines that the program which started this one gives on standard input, until it ends. A program that is killed closes its end
 * of the pipe only where no child of it has inherited that, so the process is watched too.
 */
public final class CallerLines implements AutoCloseable {
    private static final Duration LOOK = Duration.ofMinutes(1);

    /** What stands in the queue when nothing comes any more: no line has a line feed in it. */
    private static final String END = "\n";

    private static final String DEAD = "\ndead";

    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final int caller;
    private volatile boolean isClosed;
    private boolean isRead;
    private boolean isCallerDead;

    private CallerLines(int caller) {
        this.caller = caller;
    }

    /** Notes who has started this program, while it is still there; reads nothing yet. The caller closes it. */
    public static CallerLines ofParent() {
        long parent = ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L);
        // In another pid namespace, or already gone: then only the end of the input tells.
        return new CallerLines(parent == 0 ? -1 : Posix.system().openProcess(parent));
    }

    /** Reads a stream from now on, on threads that keep no JVM from ending. */
    public void read(InputStream in) {
        isRead = true;
        start("larder-lines", () -> readAll(in));
        if (caller >= 0) {
            start("larder-caller", this::watch);
        }
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns the next line; null where there will be none. */
    @Nullable
    public String next() {
        try {
            String line = lines.take();
            isCallerDead = line.equals(DEAD);
            return line.equals(END) || isCallerDead ? null : line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Tells why there was no next line. */
    public String reason() {
        return isCallerDead ? "the program that started it has ended" : "standard input ended without 'publish'";
    }

    private void readAll(InputStream in) {
        try {
            BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException closed) {
            // as if it had ended
        } finally {
            lines.add(END);
        }
    }

    private void watch() {
        try {
            while (!isClosed && !Posix.system().awaitEnd(caller, LOOK)) {
                // it lives
            }
            lines.add(DEAD);
        } finally {
            Posix.system().close(caller);
        }
    }

    /** Ends the watch; the threads go with their JVM. */
    @Override
    public void close() {
        isClosed = true;
        if (!isRead && caller >= 0) {
            Posix.system().close(caller);
        }
    }
}
