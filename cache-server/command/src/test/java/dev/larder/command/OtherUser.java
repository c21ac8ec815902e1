package dev.larder.command;

import dev.larder.layout.StoreLocation;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Runs the command as another user, from a copy of its class path that this user can read. Closing it removes the copy. */
final class OtherUser implements AutoCloseable {
    private final List<String> become;
    private final Path copy;
    private final Path workFolder;
    private final String classPath;

    private OtherUser(List<String> become) throws IOException {
        this.become = become;
        this.copy = Files.createTempDirectory("larder-classes");
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
        List<String> places = new ArrayList<>();
        String own = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String place : own.split(File.pathSeparator, -1)) {
            places.add(place.endsWith(".jar") ? copied(Path.of(place)).toString() : place);
        }
        this.workFolder = Files.createDirectory(copy.resolve("work"));
        Files.setPosixFilePermissions(workFolder, PosixFilePermissions.fromString("rwxrwxrwx"));
        this.classPath = String.join(File.pathSeparator, places);
    }

    /** Prepares to run as the user who owns nothing. */
    static OtherUser nobody() throws IOException {
        return new OtherUser(List.of("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"));
    }

    /** Prepares to run as a user that the system has no name for, as in many containers. */
    static OtherUser nameless(int uid) throws IOException {
        return new OtherUser(List.of("setpriv", "--reuid=" + uid, "--regid=" + uid, "--clear-groups"));
    }

    private Path copied(Path jar) throws IOException {
        Path target = copy.resolve(String.valueOf(jar.getFileName()));
        if (!Files.exists(target)) {
            Files.copy(jar, target);
            Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rw-r--r--"));
        }
        return target;
    }

    /** Runs a command line of larder and returns all that it printed. */
    String larder(String... words) throws IOException {
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:-UsePerfData",
                "-cp",
                classPath));
        line.add(LarderCommand.class.getName());
        line.addAll(List.of(words));
        return run(line.toArray(String[]::new));
    }

    /** Names what programs have left in the folder that they ran in. */
    List<String> leftBehind() throws IOException {
        try (Stream<Path> files = Files.list(workFolder)) {
            return files.map(file -> String.valueOf(file.getFileName())).toList();
        }
    }

    /** Runs any program in a folder of its own, and returns all that it printed. */
    String run(String... words) throws IOException {
        List<String> line = new ArrayList<>(become);
        line.addAll(List.of(words));
        ProcessBuilder program =
                new ProcessBuilder(line).directory(workFolder.toFile()).redirectErrorStream(true);
        program.environment().remove(StoreLocation.STORE_VARIABLE);
        return new String(program.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.walk(copy)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        }
    }
}
