package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ops/launcher} makes an archive of classes in the background, here with a stub of Java. */
class ClassArchiveTest {
    /** Prints its arguments, or writes an invented list and dump of classes. Halts or fails at a step. */
    private static final String JAVA = """
            #!/bin/bash
            step= list= archive=
            for word in "$@"; do
              case $word in
                -XX:DumpLoadedClassList=*) list=${word#*=} ;;
                -XX:SharedArchiveFile=*) archive=${word#*=} ;;
                -Xshare:dump) step=dump ;;
                --until-idle) step=again ;;
                dev.larder.command.LarderCommand) word_of_command=yes ;;
                *) [[ -z ${word_of_command:-} || -n $step ]] || step=$word ;;
              esac
            done
            [[ -n $list || $step == dump ]] || { echo "$*"; exit; }
            echo "$step" >>"$PLAY/steps"
            echo "$LARDER_STORE" >>"$PLAY/stores"
            [[ $step != wait ]] || until grep -q serve "$PLAY/steps"; do sleep 0.02; done
            echo java/lang/Object >"${list:-$archive}"
            if [[ $step == "${HALT:-}" ]]; then
              : >"$PLAY/halted"
              until [[ -e $PLAY/go ]]; do sleep 0.02; done
            fi
            [[ $step != "${FAIL:-}" ]] || { echo "cannot $step"; exit 1; }
            case $step in
              serve) until [[ -e $PLAY/stopped ]]; do sleep 0.02; done; rm "$PLAY/stopped" ;;
              stop) : >"$PLAY/stopped" ;;
            esac
            """;

    private static final String COMMAND = """
            source ../../ops/java-flags
            source ../../ops/launcher
            java=$PLAY/java
            become_larder "$PLAY/dist" python "$@"
            """;

    @TempDir
    Path play;

    /** The processes that were there before: to read about each again and again took half a core. */
    private Set<Path> others;

    private Path archives;
    private Path temporary;

    @BeforeEach
    void writeTheParts() throws IOException {
        Files.writeString(play.resolve("java"), JAVA);
        // It notes that a making was started.
        Files.createDirectory(play.resolve("path"));
        Files.writeString(play.resolve("path/setsid"), """
                #!/bin/sh
                echo setsid >>"$PLAY/steps"
                exec /usr/bin/setsid "$@"
                """);
        for (String program : List.of("java", "path/setsid")) {
            assertThat(play.resolve(program).toFile().setExecutable(true)).isTrue();
        }
        Files.createDirectories(play.resolve("dist/lib"));
        temporary = Files.createTempDirectory(
                Path.of("/tmp"), "play"); // in another one, no socket of a store would have room
        archives = play.resolve("dist/archive");
        others = Set.copyOf(processes(each -> true));
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        Files.writeString(play.resolve("go"), "");
        awaitEnd();
        Files.delete(temporary);
    }

    private Process start(Map<String, String> environment, String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of("bash", "-euo", "pipefail", "-c", COMMAND, "larder"));
        command.addAll(List.of(words));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("LARDER_CLASS_ARCHIVE");
        builder.environment().put("PLAY", play.toString());
        builder.environment().put("TMPDIR", temporary.toString());
        builder.environment().merge("PATH", play.resolve("path").toString(), (path, first) -> first + ":" + path);
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** Runs a command until nothing has its output open any more, and returns that. */
    private String larder(Map<String, String> environment, String... words) throws IOException {
        return new String(start(environment, words).getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private void awaitFile(String name) {
        await().atMost(Duration.ofMinutes(1)).until(() -> Files.exists(play.resolve(name)));
    }

    private void awaitEnd() {
        await().atMost(Duration.ofMinutes(1)).until(() -> processes().isEmpty());
    }

    /** Lists the processes of the play. */
    private List<Path> processes() throws IOException {
        return processes(each -> !others.contains(each)
                && read(each.resolve("environ")).contains("PLAY=" + play + "\0")
                && !read(each.resolve("cmdline")).isEmpty());
    }

    private static List<Path> processes(Predicate<Path> condition) throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            return all.filter(each -> each.getFileName().toString().matches("\\d+"))
                    .filter(condition)
                    .toList();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException ended) {
            return "";
        }
    }

    private Path maker() throws IOException {
        return processes().stream()
                .filter(each -> read(each.resolve("cmdline")).contains("make_archive"))
                .filter(each -> !read(each.resolve("stat")).contains(" Z "))
                .findFirst()
                .orElseThrow();
    }

    private List<String> steps() throws IOException {
        return Files.readAllLines(play.resolve("steps"));
    }

    private List<String> madeFiles() throws IOException {
        try (Stream<Path> files = Files.list(archives)) {
            return files.map(file -> file.getFileName().toString().replaceFirst("\\d+", "KEY"))
                    .sorted()
                    .toList();
        }
    }

    private void age(String suffix) {
        try (Stream<Path> files = Files.list(archives)) {
            Path file = files.filter(each -> each.toString().endsWith(suffix))
                    .findFirst()
                    .orElseThrow();
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofMinutes(62))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void commandsRunAtOnceWhileItIsMadeOnceForLaterOnes() throws IOException {
        assertThat(larder(Map.of("HALT", "dump"), "ls")).endsWith(" dev.larder.command.LarderCommand ls\n");
        awaitFile("halted");

        assertThat(larder(Map.of("HALT", "dump"), "status")).doesNotContain("SharedArchiveFile");

        Files.writeString(play.resolve("go"), "");
        awaitEnd();
        assertThat(larder(Map.of(), "ls"))
                .containsPattern("-XX:SharedArchiveFile=\\Q" + archives + "\\E/classes-\\d+\\.jsa ");
        assertThat(steps()).containsOnlyOnce("serve", "again", "dump", "feed", "run");
        assertThat(Files.readAllLines(play.resolve("stores")))
                .allSatisfy(store -> assertThat(store).startsWith(temporary + "/larder-archive-"));
        assertThat(madeFiles()).containsExactly("classes-KEY.jsa", "lock");
    }

    @Test
    void twoFirstCommandsAtOnceMakeOne() throws IOException {
        Process one = start(Map.of(), "ls");
        Process other = start(Map.of(), "ls");
        assertThat(List.of(one, other))
                .allSatisfy(each -> assertThat(each.waitFor()).isZero());
        awaitEnd();

        assertThat(steps()).containsOnlyOnce("dump");
        assertThat(madeFiles()).containsExactly("classes-KEY.jsa", "lock");
    }

    @Test
    void theMakingHasNothingOfTheCallers() throws IOException {
        larder(Map.of("HALT", "dump"), "ls"); // which would not end if the making had its output open
        awaitFile("halted");
        Path maker = maker();

        try (Stream<Path> open = Files.list(maker.resolve("fd"))) {
            assertThat(open.map(file -> file.toAbsolutePath().normalize()))
                    .allSatisfy(file -> assertThat(file.toRealPath().toString())
                            .satisfiesAnyOf(
                                    path -> assertThat(path).isEqualTo("/dev/null"),
                                    path -> assertThat(path).startsWith(archives.toString())));
        }
        String[] fields = read(maker.resolve("stat")).replaceFirst(".*\\) ", "").split(" ", -1);
        assertThat(fields[2]).as("process group").isNotEqualTo(ownSession());
        assertThat(fields[3]).as("session").isNotEqualTo(ownSession()).isEqualTo(fields[2]);
        assertThat(fields[4]).as("terminal").isEqualTo("0");
        assertThat(maker.resolve("cwd").toRealPath()).isEqualTo(Path.of("/"));
    }

    private static String ownSession() {
        return read(Path.of("/proc/self/stat")).replaceFirst(".*\\) ", "").split(" ", -1)[3];
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"serve", "wait", "ls", "stop", "dump"})
    void oneThatIsKilledLeavesNoHalfOfItAndALaterCommandMakesIt(String step) throws IOException {
        larder(Map.of("HALT", step), "ls");
        awaitFile("halted");
        long pid = Long.parseLong(maker().getFileName().toString());
        ProcessHandle.of(pid).orElseThrow().destroyForcibly();
        awaitEnd();
        assertThat(madeFiles()).doesNotContain("classes-KEY.jsa");
        assertThat(larder(Map.of(), "ls")).doesNotContain("SharedArchiveFile");
        awaitEnd();
        assertThat(madeFiles()).as("made again at once").doesNotContain("classes-KEY.jsa");

        age(".tried");
        larder(Map.of(), "ls");
        awaitEnd();

        assertThat(madeFiles()).containsExactly("classes-KEY.jsa", "lock");
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"serve", "stop", "dump"})
    void oneThatFailsIsNotTriedAgainWithinAnHour(String step) throws IOException {
        larder(Map.of("FAIL", step), "ls");
        awaitEnd();
        assertThat(madeFiles()).containsExactly("classes-KEY.tried", "lock");
        try (Stream<Path> files = Files.list(archives)) {
            assertThat(files).anySatisfy(file -> assertThat(file).content().contains("cannot " + step));
        }

        larder(Map.of(), "ls");
        assertThat(steps()).containsOnlyOnce("setsid");
        age(".tried");
        larder(Map.of(), "ls");
        awaitEnd();

        assertThat(madeFiles()).containsExactly("classes-KEY.jsa", "lock");
    }

    @Test
    void whereNoFolderCanBeMadeNothingIsTriedOrSaid() throws IOException {
        Files.writeString(archives, "a file");

        assertThat(larder(Map.of(), "ls"))
                .endsWith(" dev.larder.command.LarderCommand ls\n")
                .hasLineCount(1);

        assertThat(play.resolve("steps")).doesNotExist();
    }

    @Test
    void itIsMadeNowOrNeverIfTheCallerSaysSo() throws IOException {
        assertThat(larder(Map.of("LARDER_CLASS_ARCHIVE", "never"), "serve"))
                .doesNotContain("SharedArchiveFile", "larder.archives");
        assertThat(play.resolve("steps")).doesNotExist();

        assertThat(larder(Map.of("LARDER_CLASS_ARCHIVE", "now"), "ls")).contains("-XX:SharedArchiveFile=" + archives);

        assertThat(steps()).contains("dump").doesNotContain("setsid");
        assertThat(larder(Map.of("LARDER_CLASS_ARCHIVE", "soon"), "ls"))
                .isEqualTo("larder: bad LARDER_CLASS_ARCHIVE: value=soon; give now or never, or unset it\n");
    }

    @Test
    void ifItCannotBeMadeNowALineNamesTheReason() throws IOException {
        assertThat(larder(Map.of("LARDER_CLASS_ARCHIVE", "now", "FAIL", "dump"), "ls"))
                .startsWith("larder: no archive of classes was made, so commands start slower: archive=" + archives)
                .endsWith(" dev.larder.command.LarderCommand ls\n");
    }

    @Test
    void aDaemonThatStartsWithoutItNamesTheFolderForItsReaders() throws IOException {
        assertThat(larder(Map.of(), "serve")).contains(" -Dlarder.archives=" + archives + " ");
    }
}
