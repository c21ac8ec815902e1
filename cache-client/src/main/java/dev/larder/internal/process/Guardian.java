package dev.larder.internal.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A small shell that kills a family if this process is killed. It holds one end of a pipe; the kernel closes the other end with this process. If the shell
 * itself is killed, another is started. Thread-safe.
 */
public final class Guardian implements AutoCloseable {
    private static final long PAUSE_NANOS = 100_000_000;
    private static final String SCRIPT = script();

    private final List<String> words;
    private @Nullable Process shell;
    private String leader = "";
    private boolean isClosed;

    /** Starts the shell in a session of its own, before the first process of the family. */
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

    private synchronized void startLater() {
        if (!isClosed) {
            Thread thread = new Thread(this::startAgain, "larder-guardian");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void startAgain() {
        LockSupport.parkNanos(PAUSE_NANOS);
        try {
            start();
        } catch (IOException noMoreProcesses) {
            startLater();
        }
    }

    /** Sets the process that leads the family's session. */
    public synchronized void watch(long pid) {
        leader = pid + "\n";
        send(leader);
    }

    /** Writes to the shell. If it is dead, another one gets the same text. */
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
            reader.destroyForcibly();
        }
    }

    /** Returns the pid of the shell. */
    public synchronized long pid() {
        return shell == null ? -1 : shell.pid();
    }

    /** Ends the shell, after all members have ended. Idempotent. */
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
