package dev.larder.server.source;

import java.nio.file.Path;

/** Says that what has the name of a file is a folder: the walk has to look more closely. Costs no stack trace. */
public final class FolderFound extends RuntimeException {
    private static final long serialVersionUID = 1;

    FolderFound(Path folder) {
        super(folder.toString(), null, false, false);
    }
}
