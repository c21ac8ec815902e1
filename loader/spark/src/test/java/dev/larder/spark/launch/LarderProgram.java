package dev.larder.spark.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** The larder command of this checkout, which must have been built before, in a process of its own. Closing kills it. */
final class LarderProgram implements AutoCloseable {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final Process process;
    private final Path out;
    private final Path err;

    private LarderProgram(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    static LarderProgram start(Path folder, Path store, List<String> words) {
        assertThat(ROOT.resolve(".larder/current/lib"))
                .as("built by ops/larder --version")
                .exists();
        List<String> line =
                new ArrayList<>(List.of(ROOT.resolve("ops/larder").toString(), "--store", store.toString()));
        line.addAll(words);
        try {
            Path out = Files.createTempFile(folder, "out", "");
            Path err = Files.createTempFile(folder, "err", "");
            ProcessBuilder builder = new ProcessBuilder(line)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().put("LARDER_NO_BUILD", "1");
            builder.environment()
                    .put("LARDER_SPARK", Path.of("target").toAbsolutePath().toString());
            builder.environment().put("TMPDIR", folder.toString());
            builder.environment().put("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + folder);
            builder.environment().remove("SPARK_HOME");
            return new LarderProgram(builder.start(), out, err);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static LarderProgram launch(Path folder, Path store, List<String> options, String script) {
        List<String> words = new ArrayList<>(List.of("launch", "--via=spark", "-n=2"));
        words.addAll(options);
        if (options.stream().noneMatch(option -> option.startsWith("--nnodes"))) {
            words.add("--nnodes=2");
        }
        words.addAll(List.of("--", "sh", "-c", script));
        return start(folder, store, words);
    }

    /** Stops a daemon that a launch which failed had started, and that would wait for another. */
    static void stopDaemon(Path folder, Path store) {
        try (LarderProgram stop = start(folder, store, List.of("stop"))) {
            assertThat(stop.exitCode()).as(stop::said).isZero();
        }
        assertThat(store).doesNotExist();
    }

    long pid() {
        return process.pid();
    }

    String out() {
        return read(out);
    }

    String err() {
        return read(err);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int exitCode() {
        try {
            assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as(this::said)
                    .isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        assertThat(said()).doesNotContain("was never closed");
        return process.exitValue();
    }

    /** Waits for what a pattern finds in standard output, so many times, and returns its groups. */
    List<String> await(String pattern, int count) {
        Awaitility.await()
                .atMost(PATIENCE)
                .failFast("it ended", () -> !process.isAlive() && found(pattern).size() < count)
                .untilAsserted(() -> assertThat(found(pattern)).as(this::said).hasSizeGreaterThanOrEqualTo(count));
        return found(pattern);
    }

    private List<String> found(String pattern) {
        return Pattern.compile(pattern)
                .matcher(out())
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    String said() {
        return out() + err();
    }

    /** Returns the processes below it that have a word in their command lines. */
    List<ProcessHandle> below(String word) {
        return process.descendants()
                .filter(other -> commandLine(other.pid()).contains(word))
                .toList();
    }

    private static String commandLine(long pid) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"))
                    .replace('\0', ' ');
        } catch (IOException gone) {
            return "";
        }
    }

    static void signal(String name, long pid) {
        try {
            assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                            .start()
                            .waitFor())
                    .isZero();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until no process lives that has a word in its command line. */
    static void awaitNone(String word) {
        Awaitility.await()
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(ProcessHandle.allProcesses()
                                .map(other -> commandLine(other.pid()))
                                .filter(line -> line.contains(word)))
                        .isEmpty());
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
