package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.testing.LeavesNothingBehind;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;

/**
 * The class path of this JVM with its folders packed, and an archive of the classes that a daemon loads from it, as {@code larder} has
 * one: processes of tests start sooner. The JVM archives nothing of a class path with folders. Gone when this JVM ends.
 */
final class CommandImage {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final CommandImage OF_THIS_JVM = new CommandImage();

    private final Path folder;
    private final String classPath;
    private final Path archive;

    private CommandImage() {
        try {
            this.folder = Files.createDirectory(Path.of(System.getProperty("java.io.tmpdir"))
                    .toAbsolutePath()
                    .resolve("image-" + ProcessHandle.current().pid() + "-" + System.nanoTime()));
            folder.toFile().deleteOnExit();
            this.classPath =
                    packed(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
            this.archive = goneAtExit("daemon.jsa");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Adds the class path, and the archive, to the words that start a JVM; these have to be the same every time. */
    static List<String> addTo(List<String> java) {
        CommandImage image = OF_THIS_JVM;
        List<String> words = new ArrayList<>(java);
        words.addAll(List.of("-XX:SharedArchiveFile=" + image.archive(java), "-cp", image.classPath));
        return words;
    }

    private String packed(String places) {
        ToolProvider jar = ToolProvider.findFirst("jar").orElseThrow();
        List<String> packed = new ArrayList<>();
        for (String place : places.split(File.pathSeparator, -1)) {
            if (!Files.isDirectory(Path.of(place))) {
                packed.add(place);
                continue;
            }
            String file = goneAtExit("folder" + packed.size() + ".jar").toString();
            assertThat(jar.run(System.out, System.err, "--create", "--no-manifest", "--file", file, "-C", place, "."))
                    .isZero();
            packed.add(file);
        }
        return String.join(File.pathSeparator, packed);
    }

    private Path goneAtExit(String name) {
        Path file = folder.resolve(name);
        file.toFile().deleteOnExit();
        return file;
    }

    /** Runs a daemon where there is no archive yet, which leaves one. */
    private synchronized Path archive(List<String> java) {
        if (Files.exists(archive)) {
            return archive;
        }
        List<String> words = new ArrayList<>(java);
        words.addAll(List.of("-XX:ArchiveClassesAtExit=" + archive, "-cp", classPath, LarderCommand.class.getName()));
        words.addAll(List.of("--store", LeavesNothingBehind.newStore().toString(), "serve"));
        words.add("--load=v=" + Samples.vector(folder, "v", 100));
        Path said = goneAtExit("said");
        goneAtExit("v.npy");
        try {
            end(
                    new ProcessBuilder(words)
                            .redirectErrorStream(true)
                            .redirectOutput(said.toFile())
                            .start(),
                    said);
            assertThat(archive).exists();
            return archive;
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
