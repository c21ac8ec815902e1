package dev.larder.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts the other processes of a benchmark, and awaits their ends. */
public final class BenchProcess {
    private BenchProcess() {}

    /** Starts a main class in a small JVM with the class path and the output of this one; a prefix is a command such as taskset. */
    public static Process start(List<String> prefix, Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("java.class.path");
        command.addAll(List.of(java, "-XX:+UseSerialGC", "-Xmx64m", "-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).inheritIO().start();
    }

    /** Waits for the end of a process; fails if its exit code is not 0. */
    public static void requireEnd(Process process) throws IOException, InterruptedException {
        if (process.waitFor() != 0) {
            throw new IOException("a process failed: pid=" + process.pid() + " exitCode=" + process.exitValue());
        }
    }
}
