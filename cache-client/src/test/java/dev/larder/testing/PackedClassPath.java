package dev.larder.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.spi.ToolProvider;

/**
 * The class path of this JVM with its folders packed, and a place for archives of classes that are loaded from it: processes of
 * tests start sooner with one. The JVM archives nothing of a class path with folders. Gone when this JVM ends; within {@code
 * ops/test}, all JVMs with the same class path share one, which is gone when that ends.
 */
public final class PackedClassPath {
    private static final PackedClassPath OF_THIS_JVM = new PackedClassPath();

    private final boolean shared = System.getenv("LARDER_TEST_RUN") != null && System.getenv("TMPDIR") != null;
    private final Path folder;
    private final String words;

    private PackedClassPath() {
        String places = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        try {
            this.folder = Files.createDirectories(shared ? sharedFolder(places) : ownFolder());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (!shared) {
            folder.toFile().deleteOnExit();
        }
        this.words = packed(places);
    }

    private static Path ownFolder() {
        return Path.of(System.getProperty("java.io.tmpdir"))
                .toAbsolutePath()
                .resolve("image-" + ProcessHandle.current().pid() + "-" + System.nanoTime());
    }

    private static Path sharedFolder(String places) {
        UUID name = UUID.nameUUIDFromBytes(
                (System.getProperty("java.home") + File.pathSeparator + places).getBytes(StandardCharsets.UTF_8));
        return Path.of(System.getenv("TMPDIR")).toAbsolutePath().resolve("image-" + name);
    }

    /** Returns the class path. */
    public static String words() {
        return OF_THIS_JVM.words;
    }

    /** Returns a file beside the packed class path, which this makes unless it is there; processes that want it wait for each other. */
    public static Path made(String name, Consumer<Path> maker) {
        return OF_THIS_JVM.file(name, maker);
    }

    private synchronized Path file(String name, Consumer<Path> maker) {
        Path file = folder.resolve(name);
        if (Files.exists(file)) {
            return file;
        }
        Path lock = goneAtExit(folder.resolve("lock"));
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.lock(); // until the channel is closed
            if (!Files.exists(file)) {
                Path unfinished = goneAtExit(folder.resolve(name + ".part"));
                maker.accept(unfinished);
                Files.move(unfinished, goneAtExit(file));
            }
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String packed(String places) {
        List<String> packed = new ArrayList<>();
        for (String place : places.split(File.pathSeparator, -1)) {
            packed.add(
                    Files.isDirectory(Path.of(place))
                            ? file("folder" + packed.size() + ".jar", jar -> pack(place, jar))
                                    .toString()
                            : place);
        }
        return String.join(File.pathSeparator, packed);
    }

    private static void pack(String place, Path file) {
        ToolProvider jar = ToolProvider.findFirst("jar").orElseThrow();
        int code = jar.run(System.out, System.err, "-c", "-0", "-M", "-f", file.toString(), "-C", place, ".");
        if (code != 0) {
            throw new AssertionError("cannot pack " + place + ": exitCode=" + code);
        }
    }

    private Path goneAtExit(Path file) {
        if (!shared) {
            file.toFile().deleteOnExit();
        }
        return file;
    }
}
