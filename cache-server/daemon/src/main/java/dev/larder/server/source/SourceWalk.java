package dev.larder.server.source;

import dev.larder.error.LarderException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Finds the files of known kinds in a folder and below, through links; nothing is opened. Hidden files and folders may be
 * left out.
 *
 * <p>A quick walk believes that what is called like a file that is wanted is one, which saves asking the file system about each.
 */
final class SourceWalk {
    private final Path root;
    private final Predicate<String> isWanted;
    private final boolean takesHidden;
    private final boolean isQuick;
    private final List<SourceFile> files = new ArrayList<>();
    private final List<LarderException> refusals = new ArrayList<>();
    private final Set<Object> above = new HashSet<>();
    private int known;
    private int skipped;
    private int hidden;

    private SourceWalk(Path root, Predicate<String> isWanted, boolean takesHidden, boolean isQuick) {
        this.root = root;
        this.isWanted = isWanted;
        this.takesHidden = takesHidden;
        this.isQuick = isQuick;
    }

    /** Finds what is wanted, by the names of arrays. */
    static SourceWalk of(Path root, Predicate<String> isWanted, boolean takesHidden, boolean isQuick) {
        SourceWalk walk = new SourceWalk(root, isWanted, takesHidden, isQuick);
        if (Files.isDirectory(root)) {
            walk.enter(root, "");
            walk.files.sort(Comparator.comparing(SourceFile::arrayName).thenComparing(SourceFile::path));
        } else {
            walk.addAlone();
        }
        return walk;
    }

    /** Returns the files of known kinds that are wanted, sorted by the names of their arrays. */
    List<SourceFile> files() {
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
        SourceKind kind = SourceKind.of(fileName);
        SourceIdentity.of(root);
        if (kind == null) {
            throw Refusal.of(root, 0, "its name is of no known kind (" + SourceKind.ALL + ")");
        }
        known++;
        String name = kind.stem(fileName);
        if (isWanted.test(name)) {
            files.add(new SourceFile(root, kind, name));
        }
    }

    private void enter(Path folder, String level) {
        try {
            Object key = Files.readAttributes(folder, BasicFileAttributes.class).fileKey();
            if (!above.add(key)) {
                throw new FileSystemLoopException(folder.toString());
            }
            for (Path inner : look(folder, level)) {
                enter(inner, level + inner.getFileName() + "/");
            }
            above.remove(key);
        } catch (IOException e) {
            refusals.add(Refusal.unreadable(folder, 0, e));
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
        SourceKind kind = SourceKind.of(fileName);
        String name = kind == null ? "" : level + kind.stem(fileName);
        boolean wanted = kind != null && isWanted.test(name);
        if (!(isQuick && wanted) && Files.isDirectory(entry)) {
            return true;
        }
        if (kind == null) {
            skipped++;
            return false;
        }
        known++;
        if (wanted) {
            files.add(new SourceFile(entry, kind, name));
        }
        return false;
    }
}
