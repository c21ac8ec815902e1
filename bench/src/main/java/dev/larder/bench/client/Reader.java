package dev.larder.bench.client;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A {@link ReaderProcess}, seen from the benchmark that started it. Closing it lets it end. */
final class Reader implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;
    private final BufferedWriter input;

    private Reader(Process process) {
        this.process = process;
        this.output = process.inputReader();
        this.input = process.outputWriter();
    }

    /** Starts one, and does not wait for it. */
    static Reader start(Path store, List<String> datasets) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx48m",
                "-cp",
                System.getProperty("java.class.path"),
                ReaderProcess.class.getName(),
                store.toString()));
        command.addAll(datasets);
        return new Reader(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** Returns the next line that it says. */
    String line() throws IOException {
        String line = output.readLine();
        if (line == null) {
            throw new IOException("a reader has ended: pid=" + process.pid());
        }
        return line;
    }

    void tell(String line) throws IOException {
        input.write(line);
        input.newLine();
        input.flush();
    }

    void kill() {
        process.destroyForcibly();
    }

    /** Sends a signal by name. */
    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public void close() {
        try {
            input.close();
            if (process.waitFor(10, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException broken) {
            process.destroyForcibly(); // what cannot be told to end
        }
        process.destroyForcibly();
    }
}
