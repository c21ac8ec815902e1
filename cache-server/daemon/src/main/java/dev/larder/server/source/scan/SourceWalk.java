package dev.larder.server.source.scan;

import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceKind;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.formats.ImageFormat;
import dev.larder.server.source.text.TextKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * Finds the files of known kinds in a folder and below, through links; nothing is opened. Hidden files and folders may be
 * left out.
 *
 * <p>A quick walk believes that what is called like a file that is wanted is one, which saves asking the file system about each.
 */
final class SourceWalk extends FolderWalk {
    private final Path root;
    private final SourceOptions options;
    private final Predicate<String> isWanted;
    private final boolean isQuick;
    private final List<DiscoveredFile> files = new ArrayList<>();
    private int known;
    private int skipped;

    private SourceWalk(
            Path root, SourceOptions options, Predicate<String> isWanted, boolean takesHidden, boolean isQuick) {
        super(options.exclusion(), takesHidden);
        this.root = root;
        this.options = options;
        this.isWanted = isWanted;
        this.isQuick = isQuick;
    }

    /** Finds what is wanted, by the names of arrays; a file with members always is, as only they tell their names. */
    static SourceWalk of(
            Path root, SourceOptions options, Predicate<String> isWanted, boolean takesHidden, boolean isQuick) {
        SourceWalk walk = new SourceWalk(root, options, isWanted, takesHidden, isQuick);
        if (Files.isDirectory(root)) {
            walk.walk(root);
            walk.files.sort(Comparator.comparing(DiscoveredFile::arrayName).thenComparing(DiscoveredFile::path));
        } else {
            walk.addAlone();
        }
        return walk;
    }

    /** Returns the files of known kinds that are wanted, sorted by the names of their arrays. */
    List<DiscoveredFile> files() {
        return files;
    }

    /** Returns how many files are of known kinds, wanted or not. */
    int known() {
        return known;
    }

    /** Returns how many files are of no known kind. */
    int skipped() {
        return skipped;
    }

    /**
     * Tells whether files of kinds that give columns are meant: where none is of the kinds that give arrays, or none of those is
     * wanted and columns are named.
     */
    boolean isForColumns() {
        boolean isUnwanted = known == 0 || (files.isEmpty() && !options.keys().isEmpty());
        return isUnwanted && skipped > 0 && options.dtype().isEmpty();
    }

    private void addAlone() {
        String fileName = String.valueOf(root.getFileName());
        SourceKind kind = SourceKind.of(fileName, options);
        SourceIdentity.of(root);
        boolean isTyped = !options.dtype().isEmpty();
        if (kind == null && !isTyped) {
            boolean isImage = ImageFormat.isNamedSo(fileName);
            boolean isText = TextKind.of(fileName) != null;
            throw Refusal.unfit(
                    root,
                    isImage || isText
                            ? "it is not a file of arrays"
                            : "its name has no known suffix (" + SourceKind.ALL + "; " + Kinds.READ_BY_OTHERS + ")",
                    isImage
                            ? "load it --as images"
                            : isText
                                    ? "load it --as strings, or --as bytes"
                                    : "rename it, give --dtype if it has raw numbers, or load it --as bytes");
        } else if (isTyped && (kind == null ? Kinds.isKnown(fileName, options) : !kind.takesDtype())) {
            throw Refusal.unfit(root, "its format already says its dtype", "load it without --dtype");
        }
        add(DiscoveredFile.alone(root, kind == null ? SourceKind.RAW : kind, options));
    }

    private void add(DiscoveredFile file) {
        known++;
        if (isWanted(file)) {
            files.add(file);
        }
    }

    private boolean isWanted(DiscoveredFile file) {
        return file.hasMembers() || isWanted.test(file.arrayName());
    }

    @Override
    void visit(Path folder, String level, List<Path> entries) {
        entries.stream()
                .filter(entry -> isFolder(entry, level))
                .sorted()
                .forEach(inner -> enter(inner, level + inner.getFileName() + "/"));
    }

    /** Tells whether an entry is a folder, and takes note of it if it is not. */
    private boolean isFolder(Path entry, String level) {
        String fileName = String.valueOf(entry.getFileName());
        SourceKind kind = SourceKind.of(fileName, options);
        DiscoveredFile file = kind == null ? null : DiscoveredFile.below(level, entry, kind, options);
        boolean isBelieved = isQuick && file != null && isWanted(file);
        if (!isBelieved && Files.isDirectory(entry)) {
            return true;
        }
        if (file == null) {
            skipped++;
        } else {
            add(file);
        }
        return false;
    }
}
