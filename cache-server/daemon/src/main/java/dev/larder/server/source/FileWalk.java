package dev.larder.server.source;

import dev.larder.error.LarderException;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;

/** Finds files of any kind in a folder and below, through links; those and folders whose name begins with a dot are skipped. */
final class FileWalk extends SimpleFileVisitor<Path> {
    /**
     * A file that was found.
     *
     * @param path where it lies
     * @param name its path within the folder that was searched, or its own name if it was named itself
     */
    record Found(Path path, String name) {}

    private final Path root;
    private final List<Found> files = new ArrayList<>();
    private final List<LarderException> refusals = new ArrayList<>();
    private int hidden;

    private FileWalk(Path root) {
        this.root = root;
    }

    static FileWalk of(Path root) {
        FileWalk walk = new FileWalk(root);
        try {
            if (Files.isDirectory(root)) {
                Files.walkFileTree(root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, walk);
            } else {
                walk.files.add(new Found(root, String.valueOf(root.getFileName())));
            }
        } catch (IOException e) {
            throw Refusal.unreadable(root, 0, e);
        }
        walk.files.sort(Comparator.comparing(Found::name));
        return walk;
    }

    /** Returns the files, sorted by name. */
    List<Found> files() {
        return Collections.unmodifiableList(files);
    }

    /** Returns what could not even be looked at. */
    List<LarderException> refusals() {
        return refusals;
    }

    /** Returns how many files and folders were skipped. */
    int hidden() {
        return hidden;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
        if (!folder.equals(root) && isHidden(folder)) {
            hidden++;
            return FileVisitResult.SKIP_SUBTREE;
        }
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        if (isHidden(file)) {
            hidden++;
        } else {
            files.add(new Found(file, root.relativize(file).toString()));
        }
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException cause) {
        refusals.add(Refusal.unreadable(file, 0, cause));
        return FileVisitResult.CONTINUE;
    }

    private static boolean isHidden(Path path) {
        return String.valueOf(path.getFileName()).startsWith(".");
    }
}
