package dev.larder.command.doctor;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Searches for shared libraries as the dynamic loader does, but does not load them: drivers may crash or hang when they are loaded.
 *
 * @param searchPath folders that come first, as in {@code LD_LIBRARY_PATH}
 * @param listing the command that lists the loader's cache
 */
record SharedLibraries(String searchPath, List<String> listing) {
    private static final Pattern C_LIBRARY = Pattern.compile("\\s*libc\\.so\\.6 .*=> (?<folder>/.*)/libc\\.so\\.6");
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    static SharedLibraries ofThisMachine() {
        String path = System.getenv("LD_LIBRARY_PATH");
        return new SharedLibraries(path == null ? "" : path, List.of("/sbin/ldconfig", "-p"));
    }

    /** Returns whether a library exists: a path, or a name such as {@code libOpenCL.so.1}. */
    boolean has(String name) {
        if (name.indexOf('/') >= 0) {
            return Files.isReadable(Path.of(name));
        }
        for (String folder : searchPath.split(File.pathSeparator, -1)) {
            if (!folder.isEmpty() && Files.isReadable(Path.of(folder, name))) {
                return true;
            }
        }
        return isListed(name);
    }

    /** Returns whether a library is in the folder of the C library, which the loader searches without a list. */
    private static boolean isBesideC(String name, String line) {
        Matcher c = C_LIBRARY.matcher(line);
        return c.matches() && Files.isReadable(Path.of(c.group("folder"), name));
    }

    /** Searches lines such as {@code libc.so.6 (libc6,x86-64) => /lib/x86_64-linux-gnu/libc.so.6}. */
    private boolean isListed(String name) {
        try {
            Process process = new ProcessBuilder(listing)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try {
                process.getOutputStream().close();
                String lines = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
                return lines.lines().anyMatch(line -> line.strip().startsWith(name + " ") || isBesideC(name, line));
            } finally {
                process.destroyForcibly();
            }
        } catch (IOException e) { // no such command
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
