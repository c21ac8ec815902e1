package dev.larder.testing;

import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * A user that is not this one, for processes of its own. It needs no account: numbers are enough for the kernel.
 *
 * @param uid the user
 * @param group the only group besides that of the same number as the user
 */
public record OtherUser(int uid, int group) {
    /** The user who owns nothing. */
    public static final OtherUser NOBODY = new OtherUser(65534, 65534);

    private static final Path SETPRIV = Path.of("/usr/bin/setpriv");

    /** Skips the test where this process cannot become somebody else. */
    public static void assumePossible() {
        Assumptions.assumeTrue(Posix.system().userId() == 0, "only root can become somebody else");
        Assumptions.assumeTrue(Files.isExecutable(SETPRIV), "setpriv is not installed");
    }

    /** Starts a main class as this user; the class path has to be readable for anybody. */
    public ChildJvm start(String classPath, Class<?> main, String... arguments) {
        return ChildJvm.start(prefix(), classPath, ChildJvm.libraryFlags(), main.getName(), arguments);
    }

    /** Prepares any program to run as this user. */
    public ProcessBuilder program(String... words) {
        List<String> command = new ArrayList<>(prefix());
        command.addAll(List.of(words));
        return new ProcessBuilder(command);
    }

    private List<String> prefix() {
        return List.of(
                SETPRIV.toString(), "--reuid=" + uid, "--regid=" + uid, "--groups=" + group, "--no-new-privs", "--");
    }

    /** Gives a file or a folder to this user. */
    public Path own(Path path) {
        try {
            Files.setAttribute(path, "unix:uid", uid);
            Files.setAttribute(path, "unix:gid", uid);
            return path;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the class path of this JVM with copies, in a folder, of what not everybody can read. */
    public static String readableClassPath(Path folder) throws IOException {
        List<String> readable = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(":", -1)) {
            Path file = Path.of(entry).toAbsolutePath();
            if (isReadableForAll(file)) {
                readable.add(file.toString());
            } else {
                Path copy = folder.resolve(readable.size() + "-" + file.getFileName());
                Files.copy(file, copy);
                Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
                readable.add(copy.toString());
            }
        }
        return String.join(":", readable);
    }

    private static boolean isReadableForAll(Path file) throws IOException {
        if (!Files.exists(file) || Files.isDirectory(file)) {
            return true;
        }
        for (Path level = file; level != null; level = level.getParent()) {
            PosixFilePermission needed =
                    level.equals(file) ? PosixFilePermission.OTHERS_READ : PosixFilePermission.OTHERS_EXECUTE;
            if (!Files.getPosixFilePermissions(level).contains(needed)) {
                return false;
            }
        }
        return true;
    }
}
