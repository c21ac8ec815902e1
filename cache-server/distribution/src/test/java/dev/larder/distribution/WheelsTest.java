package dev.larder.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Installs the wheels into a fresh environment, without a network, and uses them as somebody who has nothing else. */
@Tag("slow")
class WheelsTest {
    private static final Path TARGET = Path.of(System.getProperty("larder.target", "target"));
    private static final String ROOT = System.getProperty("larder.root", "../..");
    private static final String USE = """
            import sys, numpy, larder
            print(larder.open('d/a').sum())
            print(larder.load('e', sys.argv[1])['a'].sum())
            print(larder.cache('c', lambda: numpy.arange(5)).sum())
            print(larder.__file__)
            """;
    private static final String REDIRECTED = "import sys, numpy; print(type(numpy.load(sys.argv[1])).__name__)";

    @TempDir
    Path temporary;

    private Path environment;

    @BeforeEach
    void aPlaceForTheEnvironment() {
        environment = temporary.resolve("environment");
    }

    @Test
    void aDaemonLoadsAndPythonReadsWithNothingButTheWheels() throws IOException {
        Path source = Files.createDirectory(temporary.resolve("source"));
        Installed.writeArray(source.resolve("a.npy"));
        install();
        try (Installed installed = Installed.at(environment, temporary)) {
            assertThat(installed.larder("serve", "--detach", "--load", "d=" + source))
                    .satisfies(ended -> assertThat(ended.code()).as(ended.err()).isZero());

            List<String> said = python(installed, "-W", "error", "-c", USE, source.toString())
                    .lines()
                    .toList();

            assertThat(said).startsWith("10", "10", "10").hasSize(4);
            assertThat(said.get(3)).startsWith(environment.toString());
            assertThat(installed.larder(redirected(source)).out()).isEqualTo("memmap\n");
            assertThat(installed.larder("stop").code()).isZero();
            requireNothingIsLeftOfThem();
        }
    }

    private void install() {
        String python = Installed.pythonWithNumpy();
        Ended made = Installed.run(
                Map.of(), List.of(python, "-m", "venv", "--system-site-packages", environment.toString()));
        assumeTrue(made.code() == 0, "no module venv for " + python);
        pip(
                "install",
                "--no-index",
                "--no-compile",
                wheel("larder_cache-").toString(),
                wheel("larder_cache_daemon-").toString());
    }

    private void pip(String... words) {
        List<String> command = new ArrayList<>(List.of(
                environment.resolve("bin/python").toString(), "-m", "pip", "--disable-pip-version-check", "-q"));
        command.addAll(List.of(words));
        Ended ended = Installed.run(Map.of(), command);
        assertThat(ended.code()).as(ended.err()).isZero();
    }

    private void requireNothingIsLeftOfThem() {
        pip("uninstall", "-y", "larder-cache", "larder-cache-daemon");
        assertThat(Installed.files(environment))
                .filteredOn(name -> Files.isRegularFile(environment.resolve(name)))
                .filteredOn(name -> name.contains("larder") && !name.contains("__pycache__"))
                .isEmpty();
    }

    private String[] redirected(Path source) {
        return new String[] {
            "run",
            "--hold",
            "d",
            "--redirect",
            "--",
            environment.resolve("bin/python").toString(),
            "-c",
            REDIRECTED,
            source.resolve("a.npy").toString()
        };
    }

    /** Runs the environment's Python as a batch system does: nothing of the environment is on the path. */
    private String python(Installed installed, String... words) {
        List<String> command =
                new ArrayList<>(List.of(environment.resolve("bin/python").toString(), "-B"));
        command.addAll(List.of(words));
        Map<String, String> variables = new HashMap<>(installed.environment());
        variables.put("PATH", "/usr/bin:/bin");
        Ended ended = Installed.run(variables, command);
        assertThat(ended.err()).isEmpty();
        return ended.out();
    }

    private static Path wheel(String name) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(TARGET, name + "*.whl")) {
            return found.iterator().next();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void theyAreTheSameWhenTheyAreMadeAgain() throws IOException {
        for (String part : List.of("stage", "runtime")) {
            Files.createSymbolicLink(
                    temporary.resolve(part), TARGET.resolve(part).toAbsolutePath());
        }
        String version = System.getProperty("larder.version", "");
        String script = ROOT + "/cache-server/distribution/src/build/python/wheels.py";

        Ended ended = Installed.run(Map.of(), List.of("python3", "-B", script, ROOT, temporary.toString(), version));

        assertThat(ended.code()).as(ended.err()).isZero();
        for (String name : List.of("larder_cache-", "larder_cache_daemon-")) {
            Path first = wheel(name);
            assertThat(Files.mismatch(first, temporary.resolve(first.getFileName())))
                    .isEqualTo(-1);
        }
    }
}
