package dev.larder.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * An archive, unpacked where nothing else is: an empty home, and a path with the tools of a small system on it.
 *
 * @param root the unpacked folder
 * @param home where {@code $HOME} leads
 * @param path the one folder of {@code $PATH}
 * @param store a store of its own
 */
record Installed(Path root, Path home, Path path, Path store) implements AutoCloseable {
    private static final Path TARGET = Path.of(System.getProperty("larder.target", "target"));
    private static final long DEADLINE_S = 180;

    /** By this {@code ops/test} knows what its own run has started, and what that left behind. */
    private static final String RUN = System.getenv().getOrDefault("LARDER_TEST_RUN", "dist");

    private static final List<String> TOOLS = List.of(
            "bash cat chmod cksum cut dirname env find flock gzip kill ln mkdir mv nice nproc readlink rm sed setpriv setsid sh sleep tail true"
                    .split(" ", -1));

    /** Unpacks {@code larder.archive}, or another one that a property names, into a folder. */
    static Installed unpack(String property, Path folder) throws IOException {
        return of(property, unpacked(property, folder), folder);
    }

    /** Unpacks the archive that a property names into a folder, and returns the folder in it that is the install. */
    static Path unpacked(String property, Path folder) throws IOException {
        Path archive = TARGET.resolve(System.getProperty(property, "none"));
        Files.createDirectories(folder);
        assertThat(run(Map.of(), List.of("tar", "-xzf", archive.toString(), "-C", folder.toString()))
                        .code())
                .isZero();
        return onlyFolder(folder);
    }

    /** Takes what was unpacked of the archive that a property names; a home, a path and temporary files are made in a folder. */
    static Installed of(String property, Path root, Path folder) throws IOException {
        Installed installed = at(root, folder);
        if (!property.endsWith("java")) {
            link(installed.path(), "java");
        }
        return installed;
    }

    /** Takes what is installed at a root; its home, its path and its temporary files lie in a folder. */
    static Installed at(Path root, Path folder) throws IOException {
        Path home = Files.createDirectory(folder.resolve("home"));
        Path path = Files.createDirectory(folder.resolve("path"));
        TOOLS.forEach(tool -> link(path, tool));
        List.of("touch", "timeout", "python3").forEach(tool -> link(path, tool));
        Path store = Path.of(
                "/dev/shm/larder-test-" + RUN + "-" + ProcessHandle.current().pid() + "-" + System.nanoTime());
        Installed installed = new Installed(root, home, path, store);
        Files.createDirectory(installed.temporary());
        Files.setPosixFilePermissions(installed.temporary(), PosixFilePermissions.fromString("rwxrwxrwx"));
        return installed;
    }

    /** Returns the folder for temporary files, which anybody may write to. */
    Path temporary() {
        return home.resolveSibling("tmp");
    }

    /** Runs a command line of larder. */
    Ended larder(String... words) {
        return larderAt(root.resolve("bin/larder"), words);
    }

    /** Runs larder by another name. */
    Ended larderAt(Path program, String... words) {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(words));
        return run(environment(), command);
    }

    Map<String, String> environment() {
        return Map.of(
                "LARDER_TEST_RUN", RUN,
                "HOME", home.toString(),
                "PATH", path.toString(),
                "LARDER_STORE", store.toString(),
                "TMPDIR", temporary().toString());
    }

    /** Lists what is in a folder, below it too. */
    static List<String> files(Path folder) {
        try (Stream<Path> found = Files.walk(folder)) {
            return found.map(file -> folder.relativize(file).toString())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs a command line with nothing in its environment but this, or with ours where this is empty. */
    static Ended run(Map<String, String> environment, List<String> command) {
        try {
            Path out = Files.createTempFile("out", "");
            Path err = Files.createTempFile("err", "");
            Process process = start(environment, command, out, err);
            if (!process.waitFor(DEADLINE_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("still running: " + command + " " + Files.readString(err));
            }
            Ended ended = new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
            Files.delete(out);
            Files.delete(err);
            return ended;
        } catch (IOException | InterruptedException e) {
            throw new AssertionError("cannot run " + command, e);
        }
    }

    static Process start(Map<String, String> environment, List<String> command, Path out, Path err) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        if (!environment.isEmpty()) {
            builder.environment().clear();
            builder.environment().putAll(environment);
        }
        return builder.start();
    }

    @Override
    public void close() {
        if (Files.exists(store)) {
            larder("stop");
        }
        awaitArchive();
    }

    /** Waits until no process makes an archive of classes for this install any more. */
    void awaitArchive() {
        await().atMost(Duration.ofSeconds(DEADLINE_S)).until(() -> makers().isEmpty());
    }

    /** Lists the processes that make an archive of classes for this install. */
    List<ProcessHandle> makers() {
        return ProcessHandle.allProcesses().filter(this::isMaker).toList();
    }

    private boolean isMaker(ProcessHandle process) {
        try {
            String words = Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"));
            return words.contains("make_archive") && words.contains("\0" + root.toRealPath());
        } catch (IOException ended) {
            return false;
        }
    }

    /**
     * Returns the file of a python that has numpy. The name alone will not do: it would be found by the path of this JVM and run
     * with another path, by which the scripts of pyenv and conda find another python, or none.
     */
    static String pythonWithNumpy() {
        for (String name : List.of("python3", "/usr/bin/python3")) {
            Ended found = run(Map.of(), List.of(name, "-c", "import numpy, sys; print(sys.executable)"));
            if (found.code() == 0) {
                return found.out().strip();
            }
        }
        return abort("no python3 with numpy");
    }

    /** Writes the array 1, 2, 3, 4 of bytes. */
    static void writeArray(Path file) throws IOException {
        String header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }";
        byte[] image = ("?NUMPY??v?" + header + " ".repeat(117 - header.length()) + "\n????")
                .getBytes(StandardCharsets.ISO_8859_1);
        byte[] start = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
        System.arraycopy(start, 0, image, 0, start.length);
        System.arraycopy(new byte[] {1, 2, 3, 4}, 0, image, 128, 4);
        Files.write(file, image);
    }

    private static void link(Path path, String tool) {
        for (String folder : List.of("/usr/bin", "/bin", "/usr/local/bin")) {
            Path program = Path.of(folder, tool);
            if (Files.isExecutable(program)) {
                try {
                    Files.createSymbolicLink(path.resolve(tool), program);
                    return;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private static Path onlyFolder(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> entry.getFileName().toString().startsWith("larder-"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Requires the one archive of classes in a folder to hold ours; one of the JDK's own classes alone is smaller. */
    static void requireOurClasses(Path folder) {
        assertThat(files(folder))
                .as(() -> whyNone(folder))
                .filteredOn(name -> name.endsWith(".jsa"))
                .singleElement()
                .satisfies(name ->
                        assertThat(folder.resolve(name).toFile().length()).isGreaterThan(16L << 20));
    }

    private static String whyNone(Path folder) {
        StringBuilder why = new StringBuilder("what the launcher wrote down where it could not make one:");
        for (String name : files(folder)) {
            if (name.endsWith(".tried")) {
                try {
                    why.append('\n').append(Files.readString(folder.resolve(name)));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        return why.toString();
    }
}
