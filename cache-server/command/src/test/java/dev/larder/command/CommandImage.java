package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.testing.LeavesNothingBehind;
import dev.larder.testing.PackedClassPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** An archive of the classes that a daemon loads, as {@code larder} has one: processes of tests start sooner. */
final class CommandImage {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Path ARCHIVE = PackedClassPath.file("daemon.jsa");

    private CommandImage() {}

    /** Adds the class path, and the archive, to the words that start a JVM; these have to be the same every time. */
    static List<String> addTo(List<String> java) {
        List<String> words = new ArrayList<>(java);
        words.addAll(List.of("-XX:SharedArchiveFile=" + archive(java), "-cp", PackedClassPath.words()));
        return words;
    }

    /** Runs a daemon where there is no archive yet, which leaves one. */
    private static synchronized Path archive(List<String> java) {
        if (Files.exists(ARCHIVE)) {
            return ARCHIVE;
        }
        List<String> words = new ArrayList<>(java);
        words.addAll(List.of(
                "-XX:ArchiveClassesAtExit=" + ARCHIVE, "-cp", PackedClassPath.words(), LarderCommand.class.getName()));
        words.addAll(List.of("--store", LeavesNothingBehind.newStore().toString(), "serve"));
        words.add("--load=v=" + Samples.vector(PackedClassPath.folder(), "v", 100));
        Path said = PackedClassPath.file("said");
        PackedClassPath.file("v.npy");
        try {
            end(
                    new ProcessBuilder(words)
                            .redirectErrorStream(true)
                            .redirectOutput(said.toFile())
                            .start(),
                    said);
            assertThat(ARCHIVE).exists();
            return ARCHIVE;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Ends a daemon once it has loaded, as a user does. */
    private static void end(Process daemon, Path said) throws InterruptedException {
        try {
            await().atMost(PATIENCE).until(() -> Files.readString(said).contains("Done caching."));
            daemon.destroy();
            assertThat(daemon.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } finally {
            daemon.destroyForcibly();
        }
    }
}
