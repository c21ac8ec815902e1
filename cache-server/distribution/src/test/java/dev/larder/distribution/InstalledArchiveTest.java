package dev.larder.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Uses the archives as somebody who has nothing else. */
class InstalledArchiveTest {
    private static final String PLAIN = "larder.archive";
    private static final String WITH_JAVA = "larder.archive.with.java";
    private static final String READ =
            "import sys; sys.path.insert(0, sys.argv[1]); import larder; print(larder.open('d/a').sum())";

    private static final Map<String, Path> UNPACKED = new ConcurrentHashMap<>();

    /** The unpacked install, and the archive of its classes, of all tests. */
    @TempDir
    static Path shared;

    @TempDir
    Path temporary;

    private Path source;

    @BeforeEach
    void oneArrayToLoad() throws IOException {
        source = Files.createDirectory(temporary.resolve("source"));
        Installed.writeArray(source.resolve("a.npy"));
    }

    private Installed install(String archive) throws IOException {
        Path root = UNPACKED.computeIfAbsent(archive, name -> {
            try {
                return Installed.unpacked(name, shared.resolve("a folder of " + name));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        return Installed.of(archive, root, temporary);
    }

    @Test
    void aDaemonLoadsAndPythonReadsWithNothingButTheArchive() throws IOException {
        loadAndRead(PLAIN);
    }

    @Tag("slow")
    @Test
    void aDaemonLoadsAndPythonReadsWithNothingButTheArchiveThatHasJava() throws IOException {
        loadAndRead(WITH_JAVA);
    }

    private void loadAndRead(String archive) throws IOException {
        try (Installed installed = install(archive)) {
            assertThat(installed.larder("serve", "--detach", "--load", "d=" + source))
                    .satisfies(ended -> assertThat(ended.code()).as(ended.err()).isZero());
            assertThat(installed.larder("ls", "--json").out()).contains("\"d/a\"");

            assertThat(python(installed)).isEqualTo("10\n");
            assertThat(installed.larder("load", "packed=" + tarOf(source)).err())
                    .contains("loaded: files=1") // by libraries that nothing before this has called
                    .doesNotContain("Exception");

            assertThat(installed.larder("stop").code()).isZero();
            assertThat(installed.store()).doesNotExist();
            installed.awaitArchive();
            Installed.requireOurClasses(installed.root().resolve("archive"));
        }
    }

    private Path tarOf(Path folder) {
        String tar = temporary.resolve("packed.tar").toString();
        assertThat(Installed.run(Map.of(), List.of("tar", "-cf", tar, "-C", folder.toString(), "a.npy"))
                        .code())
                .isZero();
        return Path.of(tar);
    }

    private static String python(Installed installed) {
        String folder = installed.root().resolve("python").toString();
        Map<String, String> environment =
                Map.of("LARDER_STORE", installed.store().toString(), "PATH", "/usr/bin:/bin");
        Ended ended = Installed.run(environment, List.of(Installed.pythonWithNumpy(), "-B", "-c", READ, folder));
        assertThat(ended.err()).isEmpty();
        return ended.out();
    }

    @Test
    void theScriptForSlurmRunsFourTrainersAndLeavesNothing() throws IOException {
        try (Installed installed = install(PLAIN)) {
            String user = "dist" + ProcessHandle.current().pid();
            Map<String, String> environment = new HashMap<>(installed.environment());
            environment.putAll(Map.of(
                    "USER",
                    user,
                    "LARDER",
                    installed.root().resolve("bin/larder").toString(),
                    "DATA",
                    source.toString(),
                    "TRAINER",
                    "echo trained"));

            String script = installed.root().resolve("slurm/larder.sbatch").toString();
            Ended ended = Installed.run(environment, List.of("bash", script));

            assertThat(ended.code()).as(ended.err()).isZero();
            assertThat(ended.out().lines())
                    .filteredOn(line -> line.startsWith("trained --seed"))
                    .hasSize(4);
            assertThat(Path.of("/dev/shm/larder-" + user + "-0")).doesNotExist();
        }
    }

    @Tag("slow")
    @Test
    void aRuntimeWithoutACompilerIsRefusedInWords() throws IOException {
        try (Installed installed = Installed.unpack(PLAIN, temporary.resolve("jre"))) {
            String home = System.getProperty("java.home");
            String runtime = temporary.resolve("runtime").toString();
            String modules = System.getProperty("larder.modules", "").replace("jdk.compiler,", "");
            Ended linked = Installed.run(
                    Map.of(), List.of(home + "/bin/jlink", "--add-modules", modules, "--output", runtime));
            assertThat(linked.code()).as(linked.out()).isZero();
            Map<String, String> environment = new HashMap<>(installed.environment());
            environment.put("JAVA_HOME", runtime);

            String program = installed.root().resolve("bin/larder").toString();
            Ended ended = Installed.run(environment, List.of(program, "serve", "--detach"));

            assertThat(ended.code()).isEqualTo(1);
            assertThat(ended.err()).contains("larder: this Java cannot run the daemon", "install a JDK");
            assertThat(ended.err()).doesNotContain("Exception");
        }
    }

    @Tag("slow")
    @Test
    void theRuntimeHasWhatEveryKindOfCommandNeeds() throws IOException {
        try (Installed installed = install(WITH_JAVA)) {
            Path image = temporary.resolve("x.png");
            Path results = temporary.resolve("grid");
            assertThat(installed.larder("serve", "--detach", "--http", "0", "--load", "d=" + source))
                    .satisfies(ended -> assertThat(ended.code()).as(ended.err()).isZero());
            assertThat(List.of(
                            installed.larder("show", "d/a"),
                            installed.larder("show", "d/a", "--png", image.toString()),
                            installed.larder("devices"),
                            installed.larder("launch", "-n", "2", "--", "true"),
                            installed.larder("grid", "a=1,2", "--out", results.toString(), "--", "true"),
                            installed.larder("run", "--hold", "d", "--", "true"),
                            installed.larder("verify"),
                            installed.larder("errors")))
                    .allSatisfy(ended -> assertThat(ended.err()).doesNotContain("WARNING", "NoClassDefFound"))
                    .allSatisfy(
                            ended -> assertThat(ended.code()).as(ended.err()).isZero());
            assertThat(installed.larder("doctor", "--json").err()).doesNotContain("WARNING", "NoClassDefFound");
            assertThat(image).isNotEmptyFile();
            assertThat(installed.larder("errors").out()).doesNotContain("Exception");
        }
    }
}
