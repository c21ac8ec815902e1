package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import dev.larder.testing.DefaultSignals;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The command in a JVM of its own, with a store of its own unless told otherwise. Closing it kills what still runs. */
final class CommandProcess implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int KILLED = 137;

    private final Path store;
    private final Path out;
    private final Path err;
    private final Process process;

    private CommandProcess(Path store, List<String> starter, List<String> arguments) {
        try {
            this.store = store;
            this.out = Files.createTempFile("larder", ".out");
            this.err = Files.createTempFile("larder", ".err");
            List<String> words = new ArrayList<>(starter);
            words.addAll(words(store, arguments));
            this.process = new ProcessBuilder(DefaultSignals.of(words))
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts the command on a new store. */
    static CommandProcess start(String... arguments) {
        return onStore(LeavesNothingBehind.newStore(), arguments);
    }

    /** Starts the command on a store. */
    static CommandProcess onStore(Path store, String... arguments) {
        return new CommandProcess(store, List.of(), List.of(arguments));
    }

    /** Starts the command on a store by way of another program, such as {@code unshare}. */
    static CommandProcess by(List<String> starter, Path store, String... arguments) {
        return new CommandProcess(store, starter, List.of(arguments));
    }

    /** Starts a daemon and waits until it has loaded what the arguments say. */
    static CommandProcess serve(String... arguments) {
        return serveOn(LeavesNothingBehind.newStore(), arguments);
    }

    /** Starts a daemon on a store, and waits until it has loaded what the arguments say. */
    static CommandProcess serveOn(Path store, String... arguments) {
        List<String> words = new ArrayList<>(List.of("serve"));
        words.addAll(List.of(arguments));
        CommandProcess daemon = onStore(store, words.toArray(String[]::new));
        return daemon.awaitOut("Done caching.");
    }

    /** Writes a script into a folder that becomes the command, for programs that call it. */
    static Path script(Path folder) throws IOException {
        String words = java().stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
        Path launcher = Path.of("../../ops/launcher").toAbsolutePath().normalize();
        Path script = Files.writeString(folder.resolve("larder"), """
                #!/bin/sh
                case " $* " in
                  *" serve "*"--detach "*) exec bash -euo pipefail -c 'source "$0"; detach "$@"' '%s' %s "$@" ;;
                esac
                exec %s "$@"
                """.formatted(launcher, words, words));
        assertThat(script.toFile().setExecutable(true)).isTrue();
        return script;
    }

    private static List<String> words(Path store, List<String> arguments) {
        List<String> words = new ArrayList<>(java());
        words.addAll(line(store, arguments));
        return words;
    }

    /** Returns a command line with a store. It begins with the subcommand: as every other is left out, the command starts sooner. */
    static List<String> line(Path store, List<String> arguments) {
        List<String> words = new ArrayList<>(arguments);
        words.addAll(1, List.of("--store", store.toString()));
        return words;
    }

    private static List<String> java() {
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith("--") || flag.startsWith("-Dnet.openhft"))
                .forEach(words::add);
        words.add("-Dlarder.python="
                + Path.of("../../ops/python").toAbsolutePath().normalize());
        words.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"));
        // as larder starts itself
        words.addAll(List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"));
        words.addAll(List.of("-XX:CompileThresholdScaling=3", "-Djna.platform.library.path="));
        words.add("-Dpicocli.disable.closures=true");
        words = CommandImage.addTo(words);
        words.add(LarderCommand.class.getName());
        return words;
    }

    Path store() {
        return store;
    }

    long pid() {
        return process.pid();
    }

    /** Runs a command line against this store, in the test's own process. */
    Answer ask(String... arguments) {
        return Answer.of(store, arguments);
    }

    /** Has a daemon that several tests share forget every dataset. */
    void forgetAll() {
        String listed = ask("ls", "--all", "--json").out();
        for (JsonElement row : JsonParser.parseString(listed).getAsJsonArray()) {
            String dataset = row.getAsJsonObject().get("name").getAsString().split("/", -1)[0];
            ask("unpin", dataset);
            ask("evict", "--forget", dataset); // again for each of its arrays, which changes nothing
        }
        assertThat(ask("ls", "--all", "--json").out().strip()).isEqualTo("[]");
    }

    /** Gives lines on standard input. */
    CommandProcess say(String... lines) {
        try {
            for (String line : lines) {
                process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            }
            process.getOutputStream().flush();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Gives a file on standard input. */
    CommandProcess feed(Path file) {
        try {
            Files.copy(file, process.getOutputStream());
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends standard input. */
    CommandProcess hangUp() {
        try {
            process.getOutputStream().close();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until a text stands on standard output. */
    CommandProcess awaitOut(String text) {
        return awaitText(out, text);
    }

    /** Waits until a text stands on standard error. */
    CommandProcess awaitErr(String text) {
        return awaitText(err, text);
    }

    private CommandProcess awaitText(Path file, String text) {
        try {
            await("'" + text + "'")
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> read(file).contains(text) || !process.isAlive());
            if (read(file).contains(text)) {
                return this;
            }
            throw new AssertionError("ended with " + process.exitValue() + " before it said '" + text + "': " + err());
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Sends a signal, named without SIG. */
    CommandProcess signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Sends a signal some time from now. */
    void signalAfter(int delayMs, String name) {
        try {
            process.waitFor(delayMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        signal(name);
    }

    /** Waits for the end and returns the exit code. */
    int exitCode() {
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("still running: " + out() + err());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    String out() {
        return read(out);
    }

    String err() {
        return read(err);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Asks a daemon that still runs to clean up, and kills it if it does not. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
            Files.deleteIfExists(out);
            Files.deleteIfExists(err);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Kills it, so that it cannot clean up. */
    void kill() {
        signal("KILL");
        if (exitCode() != KILLED) {
            throw new AssertionError("not killed: " + exitCode());
        }
    }
}
