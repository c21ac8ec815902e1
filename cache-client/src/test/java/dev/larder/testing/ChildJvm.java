package dev.larder.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A JVM of its own, for what a test cannot do to the JVM it runs in. Closing it kills it. */
public final class ChildJvm implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;

    private final Process process;
    private final List<String> errors = new ArrayList<>();
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final Thread errorReader;
    private final Thread lineReader;

    private ChildJvm(Process process) {
        this.process = process;
        this.errorReader = read(process.getErrorStream(), line -> {
            synchronized (errors) {
                errors.add(line);
            }
        });
        this.lineReader = read(process.getInputStream(), lines::add);
    }

    /** Starts a main class with the class path of this JVM and the flags that open the JDK to libraries. */
    public static ChildJvm start(Class<?> main, String... arguments) {
        return start(System.getProperty("java.class.path"), libraryFlags(), main.getName(), arguments);
    }

    /** Starts a main class with exactly this class path and these flags, and an environment like this JVM's. */
    public static ChildJvm start(String classPath, List<String> flags, String main, String... arguments) {
        return start(List.of(), classPath, flags, main, arguments);
    }

    /** Starts a main class as {@link #start(String, List, String, String...)} does, by a command that becomes the JVM. */
    public static ChildJvm start(
            List<String> prefix, String classPath, List<String> flags, String main, String... arguments) {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData", // no file in /tmp, which a killed JVM would leave there
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote", // a sixth of what a daemon's start costs
                "-Xmx256m"));
        if (flags.stream().noneMatch(flag -> flag.startsWith("-XX:+Use"))) {
            command.add("-XX:+UseSerialGC"); // fewer threads, so it is there sooner
        }
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath, main));
        command.addAll(List.of(arguments));
        try {
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment().remove("JAVA_TOOL_OPTIONS");
            return new ChildJvm(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns those flags of this JVM that libraries need. */
    public static List<String> libraryFlags() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith("--") || flag.startsWith("-Dnet.openhft"))
                .toList();
    }

    private interface LineSink {
        void accept(String line);
    }

    private static Thread read(InputStream stream, LineSink sink) {
        Thread thread = new Thread(
                () -> {
                    try (BufferedReader reader =
                            new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                            sink.accept(line);
                        }
                    } catch (IOException killed) {
                        return;
                    }
                },
                "child-output");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the next line of its standard output; fails with its error output where none comes. */
    public String awaitLine() {
        try {
            long start = System.nanoTime();
            while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
                String line = lines.poll(50, TimeUnit.MILLISECONDS);
                if (line != null) {
                    return line;
                }
                if (!process.isAlive() && !lineReader.isAlive() && lines.isEmpty()) {
                    throw new AssertionError("child ended: exitCode=" + process.exitValue() + "\n" + errors());
                }
            }
            throw new AssertionError("child says nothing\n" + errors());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the next line of its standard output that starts so, and drops those before it. */
    public String awaitLine(String beginning) {
        while (true) {
            String line = awaitLine();
            if (line.startsWith(beginning)) {
                return line;
            }
        }
    }

    /** Waits for its end and returns its exit code. */
    public int awaitExit() {
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("child does not end\n" + errors());
            }
            lineReader.join();
            errorReader.join();
            return process.exitValue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns what it has written to standard output and nobody has taken. */
    public List<String> remainingLines() {
        List<String> remaining = new ArrayList<>();
        lines.drainTo(remaining);
        return remaining;
    }

    /** Returns what it has written to standard error so far. */
    public String errors() {
        synchronized (errors) {
            return String.join("\n", errors);
        }
    }

    /** Kills it as {@code kill -9} does, and waits until it is gone. */
    public void kill() {
        process.destroyForcibly();
        awaitExit();
    }

    @Override
    public void close() {
        if (process.isAlive()) {
            kill();
        }
    }
}
