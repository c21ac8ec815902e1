package dev.larder.server.store;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Removes files and folders through directory descriptors and without following links, so that nothing outside is touched even if paths are
 * replaced meanwhile. Counts the freed files and bytes. Thread-safe.
 */
final class Removal {
    private static final int ATTEMPTS = 20;

    private final AtomicLong files = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();

    long files() {
        return files.get();
    }

    long bytes() {
        return bytes.get();
    }

    /** Unlinks a file, or a folder with its contents. Does nothing if it is missing. */
    void remove(Path folder) throws IOException {
        Path parent = folder.getParent();
        Path name = folder.getFileName();
        if (parent == null || name == null) {
            throw new IllegalArgumentException("not a path that can be removed: " + folder);
        }
        try (SecureDirectoryStream<Path> above = open(parent)) {
            removeEntry(above, name);
        } catch (NoSuchFileException gone) {
            return;
        }
    }

    /**
     * Unlinks files and folders in parallel, because freeing pages of memory takes processor time. Continues after failures; throws the
     * first at the end, with the others suppressed.
     */
    void removeAll(List<Path> paths) throws IOException {
        Queue<IOException> failures = new ConcurrentLinkedQueue<>();
        paths.parallelStream().forEach(path -> {
            try {
                remove(path);
            } catch (IOException e) {
                failures.add(e);
            }
        });
        IOException first = failures.poll();
        if (first != null) {
            failures.forEach(first::addSuppressed);
            throw first;
        }
    }

    @SuppressWarnings("StreamResourceLeak") // the caller closes it
    private static SecureDirectoryStream<Path> open(Path folder) throws IOException {
        DirectoryStream<Path> stream = Files.newDirectoryStream(folder);
        if (stream instanceof SecureDirectoryStream<Path> secure) {
            return secure;
        }
        stream.close();
        throw new IOException("file system has no directory descriptors: " + folder);
    }

    private void removeContents(SecureDirectoryStream<Path> folder) throws IOException {
        List<Path> names = new ArrayList<>();
        folder.forEach(entry -> names.add(entry.getFileName()));
        for (Path name : names) {
            removeEntry(folder, name);
        }
    }

    private void removeEntry(SecureDirectoryStream<Path> parent, Path name) throws IOException {
        PosixFileAttributes attributes;
        try {
            attributes = parent.getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .readAttributes();
        } catch (NoSuchFileException gone) {
            return;
        }
        if (attributes.isDirectory()) {
            removeTree(parent, name);
        } else {
            parent.deleteFile(name);
            files.incrementAndGet();
            bytes.addAndGet(attributes.size());
        }
    }

    /** Empties a folder and unlinks it. Tries again if another process added a file meanwhile. */
    private void removeTree(SecureDirectoryStream<Path> parent, Path name) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try (SecureDirectoryStream<Path> child = parent.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS)) {
                removeContents(child);
            }
            try {
                parent.deleteDirectory(name);
                return;
            } catch (DirectoryNotEmptyException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }
}
