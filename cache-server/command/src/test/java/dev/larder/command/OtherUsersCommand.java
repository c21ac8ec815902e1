package dev.larder.command;

import dev.larder.internal.layout.StoreLocation;
import dev.larder.testing.Folders;
import dev.larder.testing.OtherUser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Runs the command as another user, from a class path that this user can read. Closing it removes what was copied for that. */
final class OtherUsersCommand implements AutoCloseable {
    private final OtherUser user;
    private final Path folder;
    private final Path workFolder;
    private final String classPath;

    OtherUsersCommand(OtherUser user) throws IOException {
        this.user = user;
        this.folder = Files.createTempDirectory("larder-classes");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        this.workFolder = Files.createDirectory(folder.resolve("work"));
        Files.setPosixFilePermissions(workFolder, PosixFilePermissions.fromString("rwxrwxrwx"));
        this.classPath = OtherUser.readableClassPath(folder);
    }

    /** Runs a command line of larder and returns all that it printed. */
    String larder(String... words) throws IOException {
        return run(line(words).toArray(String[]::new));
    }

    /** Does the same where the environment names the user whose store is trusted. */
    String larderTrusting(String serviceUser, String... words) throws IOException {
        List<String> line = line(words);
        line.addAll(0, List.of("env", StoreLocation.SERVICE_USER_VARIABLE + "=" + serviceUser));
        return run(line.toArray(String[]::new));
    }

    private List<String> line(String... words) {
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
                "-cp",
                classPath));
        line.add(LarderCommand.class.getName());
        line.addAll(List.of(words));
        return line;
    }

    /** Names what programs have left in the folder that they ran in. */
    List<String> leftBehind() throws IOException {
        try (Stream<Path> files = Files.list(workFolder)) {
            return files.map(file -> String.valueOf(file.getFileName())).toList();
        }
    }

    /** Runs any program in a folder of its own, and returns all that it printed. */
    String run(String... words) throws IOException {
        ProcessBuilder program =
                user.program(words).directory(workFolder.toFile()).redirectErrorStream(true);
        program.environment().remove(StoreLocation.STORE_VARIABLE);
        return new String(program.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        Folders.remove(folder);
    }
}
