package dev.larder.server.source.scan;

import dev.larder.server.source.Exclusion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;

/** Looks for a file of another kind by names, and goes no further than to the first: of most folders it reads one. */
final class NameWalk extends FolderWalk {
    private final Predicate<String> isOfKind;
    private boolean hasOther;

    private NameWalk(Predicate<String> isOfKind, Exclusion exclusion) {
        super(exclusion, false);
        this.isOfKind = isOfKind;
    }

    /** Tells whether a regular file in a folder or below, which is not left out, is not called like those of a kind. */
    static boolean hasOther(Path root, Predicate<String> isOfKind, Exclusion exclusion) {
        NameWalk walk = new NameWalk(isOfKind, exclusion);
        walk.walk(root);
        return walk.hasOther;
    }

    @Override
    void visit(Path folder, String level, List<Path> entries) {
        for (Path entry : entries) {
            String name = String.valueOf(entry.getFileName());
            if (!isOfKind.test(name)) {
                hasOther = hasOther || Files.isRegularFile(entry);
            }
            if (hasOther) {
                return;
            }
        }
        for (Path entry : entries) {
            if (!hasOther && Files.isDirectory(entry)) {
                enter(entry, level + entry.getFileName() + "/");
            }
        }
    }
}
