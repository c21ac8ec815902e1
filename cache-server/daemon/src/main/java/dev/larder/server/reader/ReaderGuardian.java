package dev.larder.server.reader;

import dev.larder.internal.posix.GuardianScript;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * A small shell that kills the children of a reader if this daemon is killed: the kernel then kills only the reader itself. It holds one end of a
 * pipe; the kernel closes the other end with the daemon.
 */
final class ReaderGuardian implements AutoCloseable {
    private final Process shell;

    private ReaderGuardian(Process shell) {
        this.shell = shell;
    }

    /** Starts it in a session of its own, before the reader; {@code token} is in the environment of all that the reader starts. */
    static ReaderGuardian start(String token) throws IOException {
        List<String> words = List.of(
                ReaderChild.tool("setsid"),
                ReaderChild.tool("sh"),
                "-c",
                GuardianScript.text(),
                "larder-guardian",
                token);
        return new ReaderGuardian(new ProcessBuilder(words)
                .directory(Path.of("/").toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    /** Names the process that leads the session of a reader. */
    void watch(long pid) {
        say(pid + "\n");
    }

    private void say(String text) {
        try {
            OutputStream pipe = shell.getOutputStream();
            pipe.write(text.getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException killed) { // some other process killed it, so it needs no message
            shell.destroyForcibly();
        }
    }

    /** Lets it go: all are dead. */
    @Override
    public void close() {
        say("done\n");
        try {
            shell.getOutputStream().close();
        } catch (IOException killed) {
            shell.destroyForcibly();
        }
    }
}
