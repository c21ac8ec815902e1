package dev.larder.launch.process;

import dev.larder.internal.posix.GuardianScript;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A small shell that outlives this process when it is killed, and then kills a family. It holds the end of a pipe whose other end
 * is here: the kernel closes that however this process dies. Where the shell is killed itself, another takes its place.
 */
final class Guardian implements AutoCloseable {
    private static final Duration PAUSE = Duration.ofMillis(100);

    private final List<String> words;
    private @Nullable Process shell;
    private String told = "";
    private boolean isClosed;

    /** Starts the shell. */
    Guardian(ProcessFamily family) throws IOException {
        this.words = List.of(
                Start.tool("setsid"), Start.tool("sh"), "-c", GuardianScript.text(), "larder-guardian", family.token());
        start();
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
        say(told);
        var unused = started.onExit().thenRun(this::startLater);
    }

    private void startLater() {
        var unused = DelayedTasks.run(PAUSE, this::startAgain);
    }

    private void startAgain() {
        try {
            start();
        } catch (IOException noProcessToBeHad) {
            startLater();
        }
    }

    /** Names the process that leads the family's session. */
    synchronized void watch(long pid) {
        told = pid + "\n";
        say(told);
    }

    /** A shell that cannot be written to is dead, and another is told the same. */
    private void say(String text) {
        Process listener = shell;
        if (listener == null) {
            return;
        }
        try {
            OutputStream pipe = listener.getOutputStream();
            pipe.write(text.getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException dead) {
            listener.destroyForcibly();
        }
    }

    /** Returns the pid of the shell. */
    synchronized long pid() {
        return shell == null ? -1 : shell.pid();
    }

    /** Lets the shell go: nothing is left to guard. */
    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        say("done\n");
        Process listener = shell;
        if (listener != null) {
            try {
                listener.getOutputStream().close();
            } catch (IOException dead) {
                listener.destroyForcibly();
            }
        }
    }
}
