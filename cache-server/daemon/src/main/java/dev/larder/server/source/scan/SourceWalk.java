package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceKind;
import dev.larder.server.source.SourceOptions;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * Finds the files of known kinds in a folder and below, through links; nothing is opened. Hidden files and folders may be
 * left out.
 *
 * <p>A quick walk believes that what is called like a file that is wanted is one, which saves asking the file system about each.
 */
final class SourceWalk {
    private final Path root;
    private final SourceOptions options;
    private final Predicate<String> isWanted;
    private final boolean takesHidden;
    private final boolean isQuick;
    private final List<DiscoveredFile> files = new ArrayList<>();
    private final List<LarderException> refusals = new Refusals();
    private final FolderGuard guard = new FolderGuard();
    private int known;
    private int skipped;
    private int hidden;

    private SourceWalk(
            Path root, SourceOptions options, Predicate<String> isWanted, boolean takesHidden, boolean isQuick) {
        this.root = root;
        this.options = options;
        this.isWanted = isWanted;
        this.takesHidden = takesHidden;
        this.isQuick = isQuick;
    }

    /** Finds what is wanted, by the names of arrays; a file with members always is, as only they tell their names. */
    static SourceWalk of(
            Path root, SourceOptions options, Predicate<String> isWanted, boolean takesHidden, boolean isQuick) {
        SourceWalk walk = new SourceWalk(root, options, isWanted, takesHidden, isQuick);
        if (Files.isDirectory(root)) {
            FolderGuard.requireNotEverything(root);
            walk.enter(root, "");
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

    /** Returns what in the folder could not even be looked at. */
    List<LarderException> refusals() {
        return refusals;
    }

    /** Returns how many files are of known kinds, wanted or not. */
    int known() {
        return known;
    }

    /** Returns how many files are of no known kind. */
    int skipped() {
        return skipped;
    }

    /** Returns how many entries of folders are hidden: their names begin with a dot. */
    int hidden() {
        return hidden;
    }

    private void addAlone() {
        String fileName = String.valueOf(root.getFileName());
        SourceKind kind = SourceKind.of(fileName, options);
        SourceIdentity.of(root);
        boolean isTyped = !options.dtype().isEmpty();
        if (kind == null && !isTyped) {
            throw Refusal.unfit(
                    root,
                    "its name has no known suffix (" + SourceKind.ALL + ")",
                    "rename it, give --dtype if it has raw numbers, or load it --as bytes");
        } else if (kind != null && isTyped && !kind.takesDtype()) {
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

    private void enter(Path folder, String level) {
        try {
            guard.enter(folder);
        } catch (IOException e) {
            refusals.add(Refusal.unreadable(folder, 0, e));
            return;
        }
        try {
            for (Path inner : look(folder, level)) {
                enter(inner, level + inner.getFileName() + "/");
            }
        } catch (IOException e) {
            refusals.add(Refusal.unreadable(folder, 0, e));
        } finally {
            guard.leave();
        }
    }

    /** Looks at each entry of a folder, and returns the folders among them, sorted. */
    private List<Path> look(Path folder, String level) throws IOException {
        List<Path> folders = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                if (isFolder(entry, level)) {
                    folders.add(entry);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw Objects.requireNonNull(e.getCause());
        }
        folders.sort(Comparator.naturalOrder());
        return folders;
    }

    /** Tells whether an entry is a folder, and takes note of it if it is not. */
    private boolean isFolder(Path entry, String level) {
        String fileName = String.valueOf(entry.getFileName());
        if (!takesHidden && fileName.startsWith(".")) {
            hidden++;
            return false;
        }
        if (options.exclusion().matches(level, fileName)) {
            return false;
        }
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
