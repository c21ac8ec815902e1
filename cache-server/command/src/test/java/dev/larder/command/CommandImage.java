package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.testing.Folders;
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

/** An archive of the classes that a daemon and a command load, as {@code larder} has one: processes of tests start sooner. */
final class CommandImage {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /** As {@code ops/launcher} has them, and what else tests start often. */
    private static final List<String> COMMANDS =
            List.of("help", "ls", "feed run v --arrays v --consumers 0", "run --hold v -- true", "launch -n 1 -- true");

    private CommandImage() {}

    /** Adds the class path, and the archive, to the words that start a JVM; these have to be the same every time. */
    static List<String> addTo(List<String> java) {
        Path archive = PackedClassPath.made("command.jsa", file -> {
            try {
                make(file, java);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        return jvm(java, "-XX:SharedArchiveFile=" + archive, "-Dlarder.archives=" + archive.getParent());
    }

    private static List<String> jvm(List<String> java, String... flags) {
        List<String> words = new ArrayList<>(java);
        words.addAll(List.of(flags));
        words.addAll(List.of("-cp", PackedClassPath.words()));
        return words;
    }

    /** Lists what a daemon and a command load, and dumps it: an archive that a JDK 17 writes at exit lacks old classes, as picocli's. */
    private static void make(Path archive, List<String> java) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory(archive.resolveSibling(""), "listed");
        Path source = Samples.vector(folder, "v", 100);
        Path list = folder.resolve("list");
        Path store = LeavesNothingBehind.newStore();
        List<Path> lists = new ArrayList<>(List.of(folder.resolve("serve")));
        Process daemon = listed(java, lists.get(0), store, "serve", "--load=v=" + source);
        try {
            await().atMost(PATIENCE)
                    .until(() -> Files.readString(folder.resolve("serve.out")).contains("Done caching."));
            for (String command : COMMANDS) {
                String[] words = command.split(" ");
                lists.add(folder.resolve(words[0]));
                requireZero(listed(java, lists.get(lists.size() - 1), store, words));
            }
            daemon.destroy();
            assertThat(daemon.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } finally {
            daemon.destroyForcibly();
        }
        List<String> classes = new ArrayList<>();
        for (Path each : lists) {
            classes.addAll(classes(each));
        }
        Files.write(list, classes);
        List<String> dump =
                jvm(java, "-Xshare:dump", "-XX:SharedClassListFile=" + list, "-XX:SharedArchiveFile=" + archive);
        requireZero(start(dump, folder.resolve("dump.out")));
        Folders.remove(folder);
    }

    private static Process listed(List<String> java, Path list, Path store, String... arguments) throws IOException {
        List<String> words = jvm(java, "-XX:DumpLoadedClassList=" + list);
        words.add(LarderCommand.class.getName());
        words.addAll(CommandProcess.line(store, List.of(arguments)));
        return start(words, list.resolveSibling(list.getFileName() + ".out"));
    }

    private static Process start(List<String> words, Path out) throws IOException {
        return new ProcessBuilder(words)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
    }

    /** Reads a list as {@code ops/launcher} does: without the numbers of its classes, and half a line at its end. */
    private static List<String> classes(Path list) throws IOException {
        String text = Files.readString(list);
        return text.substring(0, text.lastIndexOf('\n'))
                .lines()
                .filter(line -> !line.contains(" super: "))
                .map(line -> line.replaceFirst(" id: \\d+$", ""))
                .toList();
    }

    private static void requireZero(Process process) throws InterruptedException {
        assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
    }
}
