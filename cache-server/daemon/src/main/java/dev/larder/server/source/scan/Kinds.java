package dev.larder.server.source.scan;

import dev.larder.internal.protocol.LoadOptions;
import dev.larder.server.reader.Readers;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceKind;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.arrow.ArrowFolder;
import dev.larder.server.source.formats.ImageFormat;
import dev.larder.server.source.formats.TarMembers;
import dev.larder.server.source.text.TextKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Tells of what kinds files are, by their names. A folder gives the arrays of one kind alone, and of others only what columns name. */
final class Kinds {
    /** Files that only {@code --as images} takes. */
    static final String IMAGES = "images";

    /** What to name, beside what the daemon reads itself, where no file is of a known kind. */
    static final String READ_BY_OTHERS =
            "by readers (larder readers lists those that are installed) HDF5, Parquet, TFRecord, .tar.xz, .tar.zst";

    private final SourceOptions options;
    private final List<Readers.Known> readers = Readers.all();

    private Kinds(SourceOptions options) {
        this.options = options;
    }

    private @Nullable String of(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        SourceKind kind = SourceKind.of(name, options);
        if (kind != null) {
            return "arrays";
        } else if (ArrowFolder.isNamedSo(name)) {
            return "Arrow";
        } else if (TarMembers.isNamedSo(name)) {
            return "tar";
        }
        return Readers.named(readers, name, "arrays")
                .map(reader -> reader.spec().description())
                .orElse(ImageFormat.isNamedSo(name) ? IMAGES : null);
    }

    /** Tells whether a name says that a file is of a kind that is read as arrays or columns, and so has a type. */
    static boolean isKnown(String name, SourceOptions options) {
        String kind = new Kinds(options).of(name);
        return kind != null && !kind.equals(IMAGES);
    }

    /** Counts the files of a folder, by their kinds, that are of other kinds than those that were taken. */
    static Map<String, Integer> passedOver(ScannedSource source, SourceOptions options, ScanSettings settings) {
        Map<String, Integer> counts = new TreeMap<>();
        if (source.skippedFiles() == 0 || options.as() != LoadOptions.As.ARRAYS || !Files.isDirectory(source.path())) {
            return counts;
        }
        Kinds kinds = new Kinds(options);
        Set<String> taken = new HashSet<>();
        source.arrays()
                .forEach(array -> taken.add(String.valueOf(kinds.of(array.file().toString()))));
        FileTable files = FileWalk.of(source.path(), options, settings).files();
        for (int i = 0; i < files.size(); i++) {
            String kind = kinds.of(files.name(i));
            if (kind != null && !taken.contains(kind)) {
                counts.merge(kind, 1, Integer::sum);
            }
        }
        return counts;
    }

    /** Returns how to load files that only {@code --as} takes, such as {@code it has 40 images: add --as images}; empty if there are none. */
    static String loadedOtherwise(Path path, SourceOptions options) {
        if (!Files.isDirectory(path)) {
            return "";
        }
        FileTable files = FileWalk.of(path, options, ScanSettings.quick()).files();
        return Stream.of(
                        counted(files, ImageFormat::isNamedSo, "image", IMAGES),
                        counted(files, name -> TextKind.of(name) != null, "text file", "strings"))
                .filter(words -> !words.isEmpty())
                .collect(Collectors.joining("; "));
    }

    private static String counted(FileTable files, Predicate<String> isSuch, String what, String as) {
        long count = IntStream.range(0, files.size())
                .filter(i -> isSuch.test(files.name(i)))
                .count();
        return count == 0 ? "" : "it has " + count + " " + what + (count == 1 ? "" : "s") + ": add --as " + as;
    }
}
