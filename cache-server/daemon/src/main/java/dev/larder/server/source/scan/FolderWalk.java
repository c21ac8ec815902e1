package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import dev.larder.server.source.Exclusion;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Goes through a folder and those below, through links. A folder that cannot be read is refused, and the walk goes on. */
abstract class FolderWalk {
    private final Exclusion exclusion;
    private final boolean takesHidden;
    private final List<LarderException> refusals = new Refusals();
    private final FolderGuard guard = new FolderGuard();
    private int hidden;

    FolderWalk(Exclusion exclusion, boolean takesHidden) {
        this.exclusion = exclusion;
        this.takesHidden = takesHidden;
    }

    /** Returns what could not be looked at. */
    final List<LarderException> refusals() {
        return refusals;
    }

    /** Returns how many files and folders were left out because their names begin with a dot. */
    final int hidden() {
        return hidden;
    }

    /** Walks through the folder that is the source. */
    final void walk(Path root) {
        FolderGuard.requireNotEverything(root);
        enter(root, "");
    }

    /** Visits a folder; {@code level} is its path below the source, empty or with a slash at the end. */
    final void enter(Path folder, String level) {
        try {
            guard.enter(folder);
        } catch (IOException e) {
            refusals.add(Refusal.unreadable(folder, 0, e));
            return;
        }
        try {
            visit(folder, level, entries(folder, level));
        } catch (IOException e) {
            refusals.add(Refusal.unreadable(folder, 0, e));
        } finally {
            guard.leave();
        }
    }

    /** Takes the files among the entries of a folder that are not left out, and enters the folders. */
    abstract void visit(Path folder, String level, List<Path> entries);

    /** Returns the paths as the file system has them: one made of a name's text has lost the bytes that are no text. */
    private List<Path> entries(Path folder, String level) throws IOException {
        List<Path> entries = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
            for (Path entry : all) {
                String name = String.valueOf(entry.getFileName());
                if (!takesHidden && name.startsWith(".")) {
                    hidden++;
                } else if (!exclusion.matches(level, name)) {
                    entries.add(entry);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw Objects.requireNonNull(e.getCause());
        }
        return entries;
    }
}
