package dev.larder.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Looks at what is in the archives. */
class ArchiveContentTest {
    private static final Path TARGET = Path.of(System.getProperty("larder.target", "target"));
    private static final Path STAGE = TARGET.resolve("stage");
    private static final String JAVA_HOME = System.getProperty("java.home");
    private static final String MODULES = System.getProperty("larder.modules", "");

    @TempDir
    Path temporary;

    @Tag("slow")
    @Test
    void theRuntimeHasTheModulesThatTheJarsAskFor() {
        String jars = String.join(
                ":",
                Installed.files(STAGE.resolve("lib")).stream()
                        .filter(name -> name.endsWith(".jar"))
                        .map(name -> STAGE.resolve("lib").resolve(name).toString())
                        .toList());
        String command = Arrays.stream(jars.split(":", -1))
                .filter(jar -> jar.contains("/larder-command"))
                .findFirst()
                .orElseThrow();
        Ended ended = Installed.run(
                Map.of(),
                List.of(
                        JAVA_HOME + "/bin/jdeps",
                        "-R",
                        "-q",
                        "--multi-release",
                        "17",
                        "--ignore-missing-deps",
                        "--print-module-deps",
                        "-cp",
                        jars,
                        command));
        assertThat(Arrays.asList((MODULES + ",java.base,java.compiler").split(",", -1)))
                .contains(ended.out().strip().split(",", -1));
    }

    @Test
    void ourLibrariesThatTheReadmeNamesAreThere() throws IOException {
        List<String> libraries = Installed.files(STAGE.resolve("lib"));
        List<String> named = Pattern.compile("larder(-[a-z]+)+")
                .matcher(Files.readString(STAGE.resolve("README.txt")))
                .results()
                .map(MatchResult::group)
                .toList();

        assertThat(named)
                .hasSizeGreaterThan(4)
                .allSatisfy(name -> assertThat(libraries)
                        .anySatisfy(library -> assertThat(library).matches(name + "-\\d.*\\.jar")));
    }

    @Test
    void everyLibraryStandsAmongTheLicences() throws IOException {
        String licences = Files.readString(STAGE.resolve("THIRD-PARTY.txt"));
        List<String> libraries = Installed.files(STAGE.resolve("lib")).stream()
                .filter(name -> name.endsWith(".jar") && !name.startsWith("larder-"))
                .toList();
        assertThat(libraries).hasSizeGreaterThan(20).allSatisfy(name -> {
            String artifact = name.replaceFirst("-\\d.*", "");
            assertThat(licences).containsPattern("(?m)^" + artifact + " [^:]+: \\S");
        });
        assertThat(licences).doesNotContain("junit", "assertj", "awaitility");
    }

    @Test
    void readersAreInAnArchiveOfTheirOwnWithWhoseTheyAre() throws IOException {
        assertThat(STAGE.resolve("lib/readers")).doesNotExist();
        Ended listed = Installed.run(
                Map.of(),
                List.of(
                        "tar",
                        "tzf",
                        TARGET.resolve(System.getProperty("larder.archive.readers", ""))
                                .toString()));
        assertThat(listed.code()).as(listed.err()).isZero();
        for (String kind : List.of("hdf5", "packed", "tfrecord", "zarr")) {
            String folder = "larder-[^/]+/lib/readers/" + kind + "/";
            assertThat(listed.out().lines())
                    .anyMatch(name -> name.matches(folder + "larder-reader-" + kind + "-.*\\.jar"))
                    .anyMatch(name -> name.matches(folder + "THIRD-PARTY.txt"))
                    .noneMatch(name -> name.contains("larder-reader-api") || name.contains("larder-messages"))
                    .filteredOn(name -> name.matches(folder + "gson-.*")) // whose JSON is not that of messages
                    .hasSize(kind.equals("zarr") ? 1 : 0);
        }
    }

    @Test
    void everyCommandHasAPageThatGroffTakes() throws IOException {
        String completion = Files.readString(STAGE.resolve("completions/larder.bash"));
        List<String> pages = Installed.files(STAGE.resolve("man/man1")).stream()
                .filter(name -> name.endsWith(".1"))
                .toList();
        assertThat(pages).contains("larder.1", "larder-serve.1", "larder-grid.1");
        Matcher commands =
                Pattern.compile("local commands=\"([^\"]+)\"").matcher(completion); // the first are those of larder
        assertThat(commands.find()).isTrue();
        assertThat(List.of(commands.group(1).split(" ", -1)))
                .hasSizeGreaterThan(20)
                .allSatisfy(command -> assertThat(pages).contains("larder-" + command + ".1"));
        assertThat(STAGE.resolve("completions/larder.fish"))
                .content()
                .contains("complete -c larder -n __fish_use_subcommand -a serve ");
        assertThat(pages)
                .filteredOn(page -> page.contains("-"))
                .allSatisfy(
                        page -> assertThat(completion).contains(page.substring("larder-".length(), page.length() - 2)));
        if (Files.isExecutable(Path.of("/usr/bin/groff"))) {
            assertThat(pages).allSatisfy(page -> {
                Ended ended = Installed.run(
                        Map.of(),
                        List.of(
                                "groff",
                                "-man",
                                "-Tutf8",
                                "-ww",
                                STAGE.resolve("man/man1/" + page).toString()));
                assertThat(ended.err()).isEmpty();
            });
        }
    }

    @Tag("slow")
    @Test
    void thePartsAreTheSameWhenTheyAreMadeAgain() throws IOException {
        for (String part : List.of("lib", "THIRD-PARTY.txt")) {
            Files.createSymbolicLink(
                    temporary.resolve(part), TARGET.resolve(part).toAbsolutePath());
        }
        String root = System.getProperty("larder.root", "../..");
        Ended staged = Installed.run(
                Map.of(),
                List.of(
                        root + "/cache-server/distribution/src/build/sh/stage",
                        root,
                        temporary.toString(),
                        JAVA_HOME,
                        MODULES));
        assertThat(staged.code()).as(staged.err()).isZero();

        String first = TARGET.toString();
        String second = temporary.toString();
        assertThat(differences(first + "/stage", second + "/stage")).isEmpty();
        // The JDK writes the archive of its own classes a little differently every time.
        assertThat(differences(first + "/runtime", second + "/runtime").lines())
                .allMatch(line -> line.contains("classes.jsa"));
    }

    private static String differences(String one, String other) {
        Ended ended = Installed.run(Map.of(), List.of("diff", "-rq", one, other));
        assertThat(ended.code()).as(ended.err()).isBetween(0, 1);
        return ended.out();
    }
}
