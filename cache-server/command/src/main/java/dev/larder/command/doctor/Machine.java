package dev.larder.command.doctor;

import dev.larder.command.output.Units;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.server.store.space.Mount;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The machine as checks see it. Tests make one up.
 *
 * @param root where its files begin: {@code /}, or a folder with made-up ones
 * @param store the store to check
 * @param user the name of the user
 * @param uid that user's number
 * @param properties returns a property of the JVM, or null if it is not set
 * @param probes all checks that do not only read files
 * @param sizes formats bytes for people
 */
public record Machine(
        Path root,
        Path store,
        String user,
        long uid,
        UnaryOperator<@Nullable String> properties,
        Probes probes,
        LongFunction<String> sizes) {
    private static final int LONGEST_TEXT = 1 << 20;
    private static final long UNKNOWN_USER = 65_534;

    /** Returns the machine of this process. */
    public static Machine here(Path store) {
        return new Machine(
                Path.of("/"),
                store,
                StoreLocation.userName(),
                userId(),
                System::getProperty,
                new LiveProbes(),
                Units::size);
    }

    /** Uses the JDK, because the native library itself may be broken. */
    private static long userId() {
        try {
            return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException e) {
            return UNKNOWN_USER;
        }
    }

    /** Returns the path of a file of this machine. */
    Path at(String path) {
        return root.resolve(path.substring(1));
    }

    boolean has(String path) {
        return Files.exists(at(path));
    }

    /** Returns whether an absolute path is a folder. */
    boolean isFolder(String path) {
        return path.startsWith("/") && Files.isDirectory(at(path));
    }

    /**
     * Returns the text of a file without blanks around it, or empty if it cannot be read. Reads in one call: files of the kernel
     * return a number to one read only, and {@code Files.readString} begins with one byte.
     */
    Optional<String> text(String path) {
        try (InputStream in = Files.newInputStream(at(path))) {
            return Optional.of(new String(in.readNBytes(LONGEST_TEXT), StandardCharsets.UTF_8).strip());
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    List<String> lines(String path) {
        return text(path).map(text -> text.lines().toList()).orElse(List.of());
    }

    OptionalLong number(String path) {
        try {
            return text(path).map(text -> OptionalLong.of(Long.parseLong(text))).orElse(OptionalLong.empty());
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    /** Returns the names in a folder with this suffix, sorted; none if there is no such folder. */
    List<String> names(String folder, String end) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(at(folder), "*" + end)) {
            entries.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
        } catch (IOException absent) {
            return List.of();
        }
        return names.stream().sorted().toList();
    }

    /** Returns the mount that contains a path. */
    Optional<Mount> mount(Path path) {
        return Mount.find(path, lines("/proc/self/mounts").stream());
    }

    /** Returns whether the store takes memory, as on a tmpfs; also if its mount cannot be found. */
    boolean hasStoreInMemory() {
        return mount(storePlace()).map(Mount::isVolatile).orElse(true);
    }

    /** Returns the nearest existing folder at or above the store. */
    Path storePlace() {
        return Stream.iterate(store, path -> path != null, Path::getParent)
                .filter(Files::isDirectory)
                .findFirst()
                .orElse(Path.of("/"));
    }

    String property(String name) {
        String value = properties.apply(name);
        return value == null ? "" : value;
    }

    String size(long bytes) {
        return sizes.apply(bytes);
    }
}
