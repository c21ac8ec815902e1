package dev.larder.server.store;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The counters of loaders in a store. Each loader creates its file and removes it; this class removes those of dead processes, and all
 * else that is in the folder: every member of the store's group may write there.
 */
final class LoaderFiles {
    private static final int MOST_BYTES = LoaderDescriptor.fileLength(LoaderDescriptor.ROW_LIMIT);

    private LoaderFiles() {}

    /** Creates the folder if it is missing; replaces another kind of file with its name. */
    static void makeFolder(StoreLayout layout) throws IOException {
        Path loaders = layout.loaders();
        if (!Files.isDirectory(loaders, LinkOption.NOFOLLOW_LINKS)) {
            new Removal().remove(loaders);
            Modes.makeFolder(loaders);
            Modes.letMembersCreate(loaders);
        }
    }

    /** Removes the files of dead processes. */
    static void sweep(Posix posix, StoreLayout layout) throws IOException {
        if (!Files.isDirectory(layout.loaders(), LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        List<Path> files;
        try (Stream<Path> entries = Files.list(layout.loaders())) {
            files = entries.toList();
        }
        for (Path file : files) {
            removeIfDead(posix, file);
        }
    }

    /** Removes a file under its exclusive lock: a process that creates it has to find another name. */
    private static void removeIfDead(Posix posix, Path file) throws IOException {
        int descriptor;
        try {
            descriptor = posix.openForReading(file);
        } catch (LarderException linkOrNoRoom) {
            // this process may have too many open files, and the loader may live
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || !Files.isReadable(file)) {
                new Removal().remove(file);
            }
            return;
        }
        try {
            FileStatus found = posix.status(descriptor);
            if (!found.isRegular() || found.byteSize() > MOST_BYTES || posix.tryLockExclusive(descriptor)) {
                new Removal().remove(file);
            }
        } finally {
            posix.close(descriptor);
        }
    }
}
