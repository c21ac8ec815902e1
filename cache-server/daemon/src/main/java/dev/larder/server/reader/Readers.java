package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The readers that this installation can use, and those that it has. Each is in a folder of its own, {@code readers/<kind>}, next to the jars of the
 * daemon or in {@code $LARDER_READERS}. Each source looks them up again.
 */
public final class Readers {
    /** Names the folder of readers, for programs that set no environment. */
    public static final String FOLDER_PROPERTY = "larder.readers";

    private static final String FOLDER_VARIABLE = "LARDER_READERS";
    private static final String DESCRIPTION = "reader.properties";
    private static final List<String> KNOWN =
            List.of("hdf5", "hdfs", "http", "packed", "parquet", "s3", "tfrecord", "zarr");
    private static final int BEGINNING_BYTES = 16;

    private Readers() {}

    /**
     * A reader.
     *
     * @param folder the folder of its jars; null if it is not installed
     */
    public record Known(ReaderSpec spec, @Nullable Path folder) {
        /** Returns the reason why it cannot be started, and the remedy; empty if it can. */
        public Optional<String> obstacle() {
            try {
                requireStartable();
                return Optional.empty();
            } catch (LarderException e) {
                return Optional.of(String.valueOf(e.getMessage()));
            }
        }

        /** Returns the folder and the Java to run it with. */
        Startable requireStartable() {
            if (folder == null) {
                throw Failure.of(ErrorCode.BAD_INPUT, "no reader for this kind of source is installed")
                        .with("kind", spec.kind())
                        .with("folder", Readers.folder().map(Path::toString).orElse("none"))
                        .remedy("install the archive with readers, or put the reader into a folder " + spec.kind()
                                + " of $" + FOLDER_VARIABLE);
            }
            ForeignJars.require(spec);
            return new Startable(folder, ReaderJava.find(spec));
        }

        /** The folder of a reader, and the Java that runs it. */
        record Startable(Path folder, Path java) {}
    }

    /** Returns all readers by kind, even those that are not installed. */
    public static List<Known> all() {
        Map<String, Known> found = new TreeMap<>();
        for (String kind : KNOWN) {
            found.put(kind, new Known(known(kind), null));
        }
        folder().ifPresent(folder -> addInstalled(folder, found));
        return List.copyOf(found.values());
    }

    private static void addInstalled(Path folder, Map<String, Known> found) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, Files::isDirectory)) {
            for (Path entry : entries) {
                String kind = String.valueOf(entry.getFileName());
                Path description = entry.resolve(DESCRIPTION);
                Known known = found.get(kind);
                if (Files.isReadable(description)) {
                    found.put(kind, new Known(read(kind, description), entry));
                } else if (known != null) {
                    found.put(kind, new Known(known.spec(), entry));
                }
            }
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot look for readers")
                    .with("folder", folder)
                    .with("reason", e)
                    .cause(e)
                    .remedy("check the folder, or set " + FOLDER_VARIABLE);
        }
    }

    private static ReaderSpec known(String kind) {
        Properties properties = new Properties();
        try (InputStream in = Readers.class.getResourceAsStream(kind + ".properties")) {
            if (in == null) {
                throw new IllegalStateException("no description of a known reader: kind=" + kind);
            }
            properties.load(in);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return ReaderSpec.of(kind, properties);
    }

    private static ReaderSpec read(String kind, Path description) throws IOException {
        Properties properties = new Properties();
        try (Reader in = Files.newBufferedReader(description, StandardCharsets.UTF_8)) {
            properties.load(in);
        }
        return ReaderSpec.of(kind, properties);
    }

    /** Returns the folder of readers, if there is one. */
    static Optional<Path> folder() {
        String wanted = System.getProperty(FOLDER_PROPERTY, System.getenv(FOLDER_VARIABLE));
        Path folder = wanted != null && !wanted.isEmpty() ? Path.of(wanted) : beside(CodeSources.of(Readers.class));
        return Optional.ofNullable(folder).filter(Files::isDirectory);
    }

    private static @Nullable Path beside(Path jar) {
        return Files.isRegularFile(jar) ? jar.resolveSibling("readers") : null;
    }

    /** Returns the reader of places with a scheme, such as {@code https}; fails with {@link ErrorCode#BAD_INPUT} if there is none. */
    public static Known ofScheme(String scheme) {
        List<Known> places = all().stream()
                .filter(known -> !known.spec().schemes().isEmpty())
                .toList();
        return places.stream()
                .filter(known -> known.spec().schemes().contains(scheme))
                .findFirst()
                .orElseThrow(() -> Failure.of(ErrorCode.BAD_INPUT, "no reader for this kind of place is known")
                        .with("scheme", scheme)
                        .with(
                                "known",
                                places.stream()
                                        .flatMap(known -> known.spec().schemes().stream())
                                        .toList())
                        .remedy("name a file or folder of this machine, or a place of a known kind: see larder"
                                + " readers"));
    }

    /** Returns the reader of files with this name, if there is one; {@code as} is the word of {@code --as}. */
    public static Optional<Known> named(List<Known> readers, String fileName, String as) {
        return readers.stream()
                .filter(reader -> reader.spec().isNamedSo(fileName)
                        && reader.spec().takes().contains(as))
                .findFirst();
    }

    /** Returns the reader of a regular file by its first bytes, if there is one. */
    public static Optional<Known> beginning(List<Known> readers, Path file, String as) {
        byte[] beginning;
        try (InputStream in = Files.newInputStream(file)) {
            beginning = in.readNBytes(BEGINNING_BYTES);
        } catch (IOException unreadable) { // the scan reports it
            return Optional.empty();
        }
        List<Known> found = new ArrayList<>(readers);
        found.removeIf(reader ->
                !reader.spec().beginsSo(beginning) || !reader.spec().takes().contains(as));
        return found.stream().findFirst();
    }
}
