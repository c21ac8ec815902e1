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
import java.util.EnumSet;
import java.util.List;

/** Finds the files of known kinds in a folder and below, through links; nothing is opened. */
final class SourceWalk extends SimpleFileVisitor<Path> {
    private final Path root;
    private final SourceOptions options;
    private final List<SourceFile> files = new ArrayList<>();
    private final List<LarderException> refusals = new ArrayList<>();
    private int skipped;

    private SourceWalk(Path root, SourceOptions options) {
        this.root = root;
        this.options = options;
    }

    static SourceWalk of(Path root, SourceOptions options) {
        SourceWalk walk = new SourceWalk(root, options);
        try {
            if (Files.isDirectory(root)) {
                Files.walkFileTree(root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, walk);
            } else {
                walk.addAlone();
            }
        } catch (IOException e) {
            throw Refusal.unreadable(root, 0, e);
        }
        return walk;
    }

    List<SourceFile> files() {
        return files;
    }

    /** Returns what in the folder could not even be looked at. */
    List<LarderException> refusals() {
        return refusals;
    }

    /** Returns how many files are of no known kind. */
    int skipped() {
        return skipped;
    }

    private void addAlone() {
        String fileName = String.valueOf(root.getFileName());
        SourceKind kind = SourceKind.of(fileName, options);
        SourceIdentity.of(root);
        boolean isTyped = !options.dtype().isEmpty();
        if (kind == null && !isTyped) {
            throw Refusal.of(root, 0, "its name is of no known kind (" + SourceKind.ALL + ")");
        } else if (kind != null && isTyped && !kind.takesDtype()) {
            throw Refusal.of(root, 0, "it says itself what it holds: load it without --dtype");
        }
        files.add(SourceFile.alone(root, kind == null ? SourceKind.RAW : kind, options));
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        String fileName = String.valueOf(file.getFileName());
        SourceKind kind = SourceKind.of(fileName, options);
        if (kind == null) {
            skipped++;
        } else {
            String folder = root.relativize(file.resolveSibling("x")).toString();
            String level = folder.substring(0, folder.length() - 1);
            files.add(SourceFile.below(level, file, kind, options));
        }
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException cause) {
        refusals.add(Refusal.unreadable(file, 0, cause));
        return FileVisitResult.CONTINUE;
    }
}
