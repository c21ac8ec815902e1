package dev.larder.internal.posix;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A small shell that survives this process if it is killed, and then kills a {@link ProcessFamily}. It reads from a pipe of this process,
 * which the kernel closes when this process dies. If the shell is killed, another one replaces it. Thread-safe.
 */
public final class Guardian implements AutoCloseable {
    private static final long PAUSE_MS = 100;
    private static final String SCRIPT = script();

    private final List<String> words;
    private @Nullable Process shell;
    private String leader = "";
    private boolean isClosed;

    /** Starts the shell, in a session of its own. */
    public Guardian(ProcessFamily family) throws IOException {
        this.words = List.of(
                SystemTools.find("setsid"), SystemTools.find("sh"), "-c", SCRIPT, "larder-guardian", family.token());
        start();
    }

    private static String script() {
        try (InputStream in = Guardian.class.getResourceAsStream("guardian.sh")) {
            if (in == null) {
                throw new IllegalStateException("guardian.sh is missing from the class path");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("guardian.sh cannot be read", e);
        }
    }

    private synchronized void start() throws IOException {
        if (isClosed) {
            return;
        }
        Process started = new ProcessBuilder(words)
                .directory(Path.of("/").toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        shell = started;
        send(leader);
        var unused = started.onExit().thenRun(this::startLater);
    }

    /** Starts another shell in a thread of its own, because the common pool of the JVM may be busy. */
    private void startLater() {
        Executor threads = task -> {
            Thread thread = new Thread(task, "larder-guardian");
            thread.setDaemon(true);
            thread.start();
        };
        CompletableFuture.delayedExecutor(PAUSE_MS, TimeUnit.MILLISECONDS, threads)
                .execute(this::startAgain);
    }

    private void startAgain() {
        try {
            start();
        } catch (IOException noFreeProcess) {
            startLater();
        }
    }

    /** Names the process that leads the family's session. */
    public synchronized void watch(long pid) {
        leader = pid + "\n";
        send(leader);
    }

    private void send(String text) {
        Process reader = shell;
        if (reader == null) {
            return;
        }
        try {
            OutputStream pipe = reader.getOutputStream();
            pipe.write(text.getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException dead) {
            reader.destroyForcibly(); // the next shell gets the text
        }
    }

    /** Returns the pid of the shell. */
    public synchronized long pid() {
        return shell == null ? -1 : shell.pid();
    }

    /** Ends the shell: the family has ended. Idempotent. */
    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        send("done\n");
        Process reader = shell;
        if (reader != null) {
            try {
                reader.getOutputStream().close();
            } catch (IOException dead) {
                reader.destroyForcibly();
            }
        }
    }
}
