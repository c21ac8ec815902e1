package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.lock.LockRecord;
import dev.larder.server.store.lock.StoreLock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Takes a folder over as the store of this process. */
final class TakeOver {
    private static final int LOCK_ATTEMPTS = 50;

    private TakeOver() {}

    /** Creates the folder and takes its lock. Tries again if a daemon that is stopping removed the folder in between. */
    static StoreLock takeLock(Posix posix, StoreLayout layout) throws IOException {
        for (int attempt = 1; ; attempt++) {
            requireNoLink(layout.root());
            Files.createDirectories(layout.root(), folderMode());
            StoreLocation.requireOwn(layout.root());
            requireStoreOrEmpty(layout);
            try {
                return StoreLock.take(posix, layout);
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NOT_FOUND || attempt == LOCK_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    /** Refuses the store of a live daemon if another process has removed its lock: that daemon is about to restore it. */
    static void requireNoDaemon(StoreLayout layout) {
        if (!Files.exists(layout.lock()) && StoreLocation.hasDaemon(layout.root())) {
            throw Failure.of(ErrorCode.REFUSED, "another daemon owns the store")
                    .with("store", layout.root())
                    .with("reason", "its lock was removed, but its socket accepts connections")
                    .remedy("use that daemon, stop it with larder stop, or name another store with --store");
        }
    }

    /** Removes everything but published data, and returns how many bytes remain. */
    static long prepare(Posix posix, StoreLayout layout, LockRecord.Contents contents, Optional<String> group)
            throws IOException {
        Removal removal = new Removal();
        if (!Files.isDirectory(layout.data(), LinkOption.NOFOLLOW_LINKS)) {
            removal.remove(layout.data());
        }
        Modes.apply(layout.root(), layout.data(), group);
        if (contents != LockRecord.Contents.INTACT) { // shared memory of processes of another boot is useless
            removal.remove(layout.regions());
            Files.deleteIfExists(layout.catalog());
        }
        Publication.makeFolder(layout.data());
        if (contents == LockRecord.Contents.INTACT) { // otherwise the record itself may be incomplete
            new Intent(layout).finish();
        }
        for (Path part : layout.partsOfOneRun()) {
            removal.remove(part);
        }
        Modes.makePassage(layout.incoming());
        Rings.makeFolder(layout);
        Modes.share(layout.rings());
        LoaderFiles.makeFolder(layout);
        Modes.letMembersCreate(layout.loaders());
        RegionFiles.makeFolder(layout);
        long rings = 0;
        for (Path ring : Rings.entries(layout)) {
            rings += Rings.storedBytes(posix, ring);
        }
        return byteSize(layout.data()) + rings + byteSize(layout.regions());
    }

    /** Sums the lengths of all files below a folder, with one look at each. Several threads take the folders in it. */
    private static long byteSize(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.toList().parallelStream()
                    .mapToLong(TakeOver::treeByteSize)
                    .sum();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static long treeByteSize(Path tree) {
        try {
            return walkedByteSize(tree);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long walkedByteSize(Path tree) throws IOException {
        long[] sum = {0};
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes found) {
                sum[0] += found.isRegularFile() ? found.size() : 0;
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (failure instanceof NoSuchFileException) { // a producer has just removed its ring
                    return FileVisitResult.CONTINUE;
                }
                throw failure;
            }
        });
        return sum[0];
    }

    /** Refuses a link before anything is created behind it: its owner could redirect it. */
    private static void requireNoLink(Path root) throws IOException {
        if (Files.isSymbolicLink(root)) {
            throw Failure.of(ErrorCode.REFUSED, "the store is a link")
                    .with("store", root)
                    .with("target", Files.readSymbolicLink(root))
                    .remedy("pass the folder that it points to with --store");
        }
    }

    /** Refuses a folder with other files: a stopping daemon could not distinguish them from its own. */
    private static void requireStoreOrEmpty(StoreLayout layout) throws IOException {
        if (Files.exists(layout.lock())) {
            return;
        }
        List<Path> parts = layout.parts();
        try (Stream<Path> entries = Files.list(layout.root())) {
            Optional<Path> stranger = entries.filter(entry -> !parts.contains(entry) && !entry.equals(layout.lock()))
                    .findFirst();
            if (stranger.isPresent()) {
                throw Failure.of(ErrorCode.REFUSED, "folder is neither empty nor a store")
                        .with("store", layout.root())
                        .with("found", stranger.get().getFileName())
                        .remedy("name an empty or absent folder with --store");
            }
        }
    }

    static void requireSocketPath(StoreLayout layout) {
        int length = layout.socket().toString().getBytes(StandardCharsets.UTF_8).length;
        if (length > StoreLayout.SOCKET_PATH_LIMIT) {
            throw Failure.of(ErrorCode.USAGE, "path of the store is too long for a socket")
                    .with("socket", layout.socket())
                    .with("bytes", length)
                    .with("limit", StoreLayout.SOCKET_PATH_LIMIT)
                    .remedy("name a shorter one with --store");
        }
    }

    private static FileAttribute<?> folderMode() {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    }
}
