package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Finds jars that a reader needs and that are never packed with it, as a user has those that fit the servers, such as Hadoop's. */
final class ForeignJars {
    /** Time limit for the command, which starts a JVM. */
    private static final Duration LONGEST = Duration.ofSeconds(30);

    private ForeignJars() {}

    /** Fails with {@link ErrorCode#BAD_INPUT} unless something names them; runs nothing. */
    static void require(ReaderSpec reader) {
        if (!reader.foreign().isEmpty() && named(reader).isEmpty() && !hasProgram(reader)) {
            throw missing(reader, "neither is set or on the PATH");
        }
    }

    /** Returns their class path; empty if the reader needs none. */
    static String classPath(ReaderSpec reader) {
        if (reader.foreign().isEmpty()) {
            return "";
        }
        String named = named(reader);
        return named.isEmpty() ? printed(reader) : named;
    }

    private static String named(ReaderSpec reader) {
        return System.getenv().getOrDefault(reader.foreign().get(0), "");
    }

    private static List<String> command(ReaderSpec reader) {
        return reader.foreign().subList(1, reader.foreign().size());
    }

    private static boolean hasProgram(ReaderSpec reader) {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            if (Files.isExecutable(Path.of(folder, command(reader).get(0)))) {
                return true;
            }
        }
        return false;
    }

    private static String printed(ReaderSpec reader) {
        try {
            Process process = new ProcessBuilder(command(reader))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            CompletableFuture<Void> end = CompletableFuture.runAsync(
                    () -> end(process), CompletableFuture.delayedExecutor(LONGEST.toSeconds(), TimeUnit.SECONDS));
            process.getOutputStream().close();
            String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            boolean isLate = !end.cancel(false);
            if (isLate) {
                throw missing(reader, "the command took longer than " + LONGEST.toSeconds() + " s");
            } else if (process.waitFor() != 0 || printed.isEmpty()) {
                throw missing(reader, "the command printed nothing");
            }
            return printed.lines().reduce("", (before, line) -> line); // warnings come first
        } catch (IOException e) {
            throw missing(reader, Failure.words(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while a reader started")
                    .exception();
        }
    }

    /** Ends a command that hangs, and its children, which hold its output open. */
    private static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    private static LarderException missing(ReaderSpec reader, String reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "a reader needs jars that it does not bring")
                .with("kind", reader.kind())
                .with("variable", reader.foreign().get(0))
                .with("command", String.join(" ", command(reader)))
                .with("reason", reason)
                .remedy("give the daemon the variable, or a PATH with the command");
    }
}
