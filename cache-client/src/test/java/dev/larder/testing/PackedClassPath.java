package dev.larder.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;

/**
 * The class path of this JVM with its folders packed, and a place for an archive of classes that are loaded from it: processes of
 * tests start sooner with one. The JVM archives nothing of a class path with folders. Gone when this JVM ends.
 */
public final class PackedClassPath {
    private static final PackedClassPath OF_THIS_JVM = new PackedClassPath();

    private final Path folder;
    private final String words;

    private PackedClassPath() {
        try {
            this.folder = Files.createDirectory(Path.of(System.getProperty("java.io.tmpdir"))
                    .toAbsolutePath()
                    .resolve("image-" + ProcessHandle.current().pid() + "-" + System.nanoTime()));
            folder.toFile().deleteOnExit();
            this.words = packed(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the class path. */
    public static String words() {
        return OF_THIS_JVM.words;
    }

    /** Returns the folder of such files. */
    public static Path folder() {
        return OF_THIS_JVM.folder;
    }

    /** Returns where a file of this name goes that is to be gone when this JVM ends. */
    public static Path file(String name) {
        return OF_THIS_JVM.goneAtExit(name);
    }

    private String packed(String places) {
        ToolProvider jar = ToolProvider.findFirst("jar").orElseThrow();
        List<String> packed = new ArrayList<>();
        for (String place : places.split(File.pathSeparator, -1)) {
            if (!Files.isDirectory(Path.of(place))) {
                packed.add(place);
                continue;
            }
            String file = goneAtExit("folder" + packed.size() + ".jar").toString();
            int code = jar.run(System.out, System.err, "--create", "--no-manifest", "--file", file, "-C", place, ".");
            if (code != 0) {
                throw new AssertionError("cannot pack " + place + ": exitCode=" + code);
            }
            packed.add(file);
        }
        return String.join(File.pathSeparator, packed);
    }

    private Path goneAtExit(String name) {
        Path file = folder.resolve(name);
        file.toFile().deleteOnExit();
        return file;
    }
}
