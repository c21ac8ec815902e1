package dev.larder.launch.process;

import static org.awaitility.Awaitility.await;

import dev.larder.testing.DefaultSignals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A JVM that started a program. Closing it kills it, and what it says it started. */
final class Starter implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final Process process;
    private final List<String> said = new CopyOnWriteArrayList<>();

    private Starter(List<String> words) throws IOException {
        process = new ProcessBuilder(words)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Thread reader = new Thread(this::read, "reader-of-starter");
        reader.start();
    }

    /** Starts a JVM that starts a shell with a script. */
    static Starter of(String script) throws IOException {
        return new Starter(DefaultSignals.of(words("sh", "-c", script)));
    }

    /** Starts such a JVM as scripts start what follows a {@code &}: with Ctrl-C ignored. */
    static Starter deaf(String script) throws IOException {
        List<String> words = new ArrayList<>(List.of("sh", "-c", "trap '' INT QUIT; exec \"$@\"", "sh"));
        words.addAll(words("sh", "-c", script));
        return new Starter(words);
    }

    /** Returns the words that start such a JVM. */
    static List<String> words(String... program) {
        List<String> words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                StarterMain.class.getName()));
        words.addAll(List.of(program));
        return words;
    }

    private void read() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                said.add(line);
            }
        } catch (IOException killed) {
            said.add("killed");
        }
    }

    /** Waits for a line of two words, and returns the number that follows the first. */
    long number(String name) {
        return await(name).atMost(PATIENCE).until(() -> last(name), pid -> pid > 0);
    }

    /** Waits until such a line says another number. */
    long otherNumber(String name, long than) {
        return await(name)
                .atMost(PATIENCE)
                .until(
                        () -> {
                            process.getOutputStream().write('\n');
                            process.getOutputStream().flush();
                            return last(name);
                        },
                        pid -> pid > 0 && pid != than);
    }

    private long last(String name) {
        return said.stream()
                .filter(line -> line.startsWith(name + " "))
                .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1)))
                .reduce(-1, (earlier, later) -> later);
    }

    /** Kills the JVM, so that it can do nothing more. */
    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        said.stream()
                .filter(line -> line.matches("(pid|child said [a-z]+) \\d+"))
                .map(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                .flatMap(pid -> ProcessHandle.of(pid).stream())
                .forEach(ProcessHandle::destroyForcibly);
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
