package dev.larder.server;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opentest4j.TestAbortedException;

/** Has the kernel kill a process at a certain system call of one of its threads, by way of {@code strace}. */
final class Strace {
    private final Process process;

    private Strace(Process process) {
        this.process = process;
    }

    /** Runs an action meanwhile; see {@link #killAt}. */
    static void killAt(long pid, String pattern, int number, Runnable action) {
        Strace strace = killAt(pid, pattern, number);
        try {
            action.run();
        } finally {
            strace.close();
        }
    }

    /**
     * Kills the process instead of the n-th call, counted in each thread, of those that the pattern names. Skips the test where there is
     * no strace, or where this process may not be traced.
     */
    private static Strace killAt(long pid, String pattern, int number) {
        try {
            Process process = new ProcessBuilder(List.of(
                            "strace",
                            "-f",
                            "-o",
                            "/dev/null",
                            "-e",
                            "trace=" + pattern,
                            "-e",
                            "inject=" + pattern + ":signal=SIGKILL:when=" + number,
                            "-p",
                            Long.toString(pid)))
                    .redirectErrorStream(true)
                    .start();
            BufferedReader said =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            assumeThat(said.readLine()).as("may trace").contains("attached");
            return new Strace(process);
        } catch (IOException noStrace) {
            throw new TestAbortedException("needs strace: " + noStrace);
        }
    }

    /** Lets the process go, where it lives. */
    private void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            process.getInputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
