package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.store.space.Space;
import dev.larder.server.store.version.Manifest;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import dev.larder.server.store.version.ShardRecord;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotLinkException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The names in a store: version folders, pins, links to the newest versions, and records of sources. Changes exclude each other, so that
 * nothing is published or removed while a name is examined. Thread-safe.
 */
final class VersionNames {
    private static final Logger LOG = LoggerFactory.getLogger(VersionNames.class);

    private final StoreLayout layout;
    private final Supplier<Path> newPaths;

    /**
     * Changes the names in a store.
     *
     * @param newPaths returns unused paths in {@code incoming}
     */
    VersionNames(StoreLayout layout, Supplier<Path> newPaths) {
        this.layout = layout;
        this.newPaths = newPaths;
    }

    /** Makes prepared versions visible. */
    synchronized List<PublishedVersion> publish(Publication publication) throws IOException {
        List<PublishedVersion> published = publication.commit();
        published.forEach(this::removeRecord); // under this lock, or it could be the record of an eviction that follows
        // immediately
        return published;
    }

    private void removeRecord(PublishedVersion version) {
        try {
            Files.deleteIfExists(layout.registered(version.dataset()));
        } catch (IOException e) {
            LOG.warn("cannot forget the sources of a dataset: {}", Failure.words(e)); // the next start ignores it
        }
    }

    static boolean isPinned(PublishedVersion version) {
        return Files.exists(version.folder().resolve(StoreLayout.PINNED));
    }

    synchronized void pin(PublishedVersion version, boolean pinned) {
        Path file = version.folder().resolve(StoreLayout.PINNED);
        try {
            if (!pinned) {
                Files.deleteIfExists(file);
            } else if (!isPinned(version)) {
                Publication.write(file, writer -> {});
            }
        } catch (NoSuchFileException e) {
            throw Failure.of(ErrorCode.NOT_FOUND, "the version was removed before it could be pinned")
                    .with("dataset", version.dataset())
                    .with("version", version.version())
                    .cause(e)
                    .remedy("load it again with larder load --pin");
        } catch (IOException e) {
            throw Space.failed("cannot pin a version", file, e);
        }
    }

    synchronized void pointCurrentTo(PublishedVersion version) throws IOException {
        if (!isCurrent(version)) {
            Path link = Files.createSymbolicLink(newPaths.get(), Path.of(Long.toString(version.version())));
            try {
                Files.move(link, layout.current(version.dataset()), StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(link); // it still exists if the move failed
            }
        }
    }

    /** If a step fails, the version is held back as before. */
    synchronized Optional<PublishedVersion> reveal(PublishedVersion unverified) throws IOException {
        if (currentNumber(unverified.dataset()) > unverified.version()) {
            return Optional.empty();
        }
        Path folder = layout.version(unverified.dataset(), unverified.version());
        PublishedVersion version = unverified.at(folder);
        Files.move(unverified.folder(), folder, StandardCopyOption.ATOMIC_MOVE);
        try {
            pointCurrentTo(version);
        } catch (IOException | RuntimeException | Error e) {
            try {
                Files.move(folder, unverified.folder(), StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException stays) {
                e.addSuppressed(stays);
            }
            throw e;
        }
        removeRecord(version);
        return Optional.of(version);
    }

    /** Returns the number in the link of a dataset, or 0 if there is none. */
    private long currentNumber(String dataset) throws IOException {
        try {
            return Long.parseLong(
                    Files.readSymbolicLink(layout.current(dataset)).toString());
        } catch (NoSuchFileException | NotLinkException | NumberFormatException none) {
            return 0;
        }
    }

    synchronized void unlinkCurrent(PublishedVersion version) throws IOException {
        if (isCurrent(version)) {
            Files.deleteIfExists(layout.current(version.dataset()));
        }
    }

    /** Restores a missing link, unless its version is also missing. Returns whether it did. */
    boolean restoreCurrent(PublishedVersion version, BooleanSupplier isStillCurrent) throws IOException {
        return !hasCurrent(version) && restoreLost(version, isStillCurrent);
    }

    private synchronized boolean restoreLost(PublishedVersion version, BooleanSupplier isStillCurrent)
            throws IOException {
        boolean isLost = !hasCurrent(version)
                && Files.isDirectory(version.folder(), LinkOption.NOFOLLOW_LINKS)
                && isStillCurrent.getAsBoolean();
        if (isLost) {
            pointCurrentTo(version);
        }
        return isLost;
    }

    private boolean hasCurrent(PublishedVersion version) {
        return Files.exists(layout.current(version.dataset()), LinkOption.NOFOLLOW_LINKS);
    }

    private boolean isCurrent(PublishedVersion version) throws IOException {
        return currentNumber(version.dataset()) == version.version();
    }

    /**
     * Moves a version out of the sight of clients, in one step. Returns false if it must stay.
     *
     * @param isLocked whether its lease is locked; without a lease to lock, the version may have been published again since
     */
    synchronized boolean hide(PublishedVersion version, RemovalReason reason, boolean isLocked, Path place)
            throws IOException {
        boolean isPublishedAgain = !isLocked && Files.exists(version.folder().resolve(StoreLayout.LEASE));
        if (isPublishedAgain || (reason != RemovalReason.RETIRED && isPinned(version))) {
            return false;
        }
        boolean isReplaced = hasCurrent(version) && !isCurrent(version);
        if (reason == RemovalReason.EVICTED && !isReplaced) {
            recordSource(
                    version); // before the link is removed: readers look for the link, then for the record, without a
            // daemon
        }
        unlinkCurrent(version);
        moveIfThere(version, place);
        Publication.deleteIfEmpty(layout.dataset(version.dataset()));
        return true;
    }

    /**
     * Records the sources of a version by a hard link to its manifest, so that the version stays whole until it is moved away. If the file
     * system has no space or no inode left for the record, the manifest itself becomes the record. So a version without a manifest is being
     * evicted.
     */
    private void recordSource(PublishedVersion version) throws IOException {
        Path manifest = version.folder().resolve(StoreLayout.MANIFEST);
        Path note = layout.registered(version.dataset());
        if (linkTo(manifest, note)) {
            return;
        }
        try {
            writeRegistration(Registration.of(version));
        } catch (LarderException full) {
            try {
                Files.move(manifest, note, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException e) {
                full.addSuppressed(e);
                throw full;
            }
        }
    }

    /** Gives a file another name, in one step. Returns false if it is gone, or if the file system has no hard links. */
    private boolean linkTo(Path file, Path name) throws IOException {
        Path draft = newPaths.get();
        try {
            Files.createLink(draft, file);
        } catch (FileSystemException | UnsupportedOperationException e) {
            return false;
        }
        try {
            Files.move(draft, name, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(draft); // it still exists if {@code name} was already a link to this file
        }
        return true;
    }

    private static void moveIfThere(PublishedVersion version, Path place) throws IOException {
        if (Files.exists(version.folder(), LinkOption.NOFOLLOW_LINKS)) {
            Files.move(version.folder(), place, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    synchronized void setAside(PublishedVersion version) throws IOException {
        if (Files.exists(version.folder(), LinkOption.NOFOLLOW_LINKS)) {
            Adoption.setAside(version.folder());
        }
    }

    void rewriteManifest(PublishedVersion version) {
        try {
            ShardRecord shard = version.provenance().shard();
            if (shard != null) { // first, because a daemon compares the manifest
                replace(
                        version.folder().resolve(StoreLayout.SHARD),
                        writer -> writer.write(shard.file().text()));
            }
            replace(version.folder().resolve(StoreLayout.MANIFEST), writer -> Manifest.write(version, writer));
        } catch (NoSuchFileException gone) {
            LOG.debug("a version was removed before its manifest was replaced: {}", Failure.words(gone));
        } catch (IOException e) {
            throw Space.failed("cannot replace a manifest", version.folder(), e);
        }
    }

    /** Replaces a file in one step. */
    private void replace(Path file, Publication.Content content) throws IOException {
        Path draft = newPaths.get();
        try {
            Publication.write(draft, content);
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(draft);
        }
    }

    synchronized void writeRegistration(Registration registration) {
        Path file = layout.registered(registration.dataset());
        try {
            Publication.makeFolder(layout.dataset(registration.dataset()));
            replace(file, writer -> Manifest.writeRegistration(registration, writer));
        } catch (IOException e) {
            throw Space.failed("cannot record the sources of a dataset", file, e);
        }
    }

    synchronized void removeRegistration(String dataset) {
        try {
            Files.deleteIfExists(layout.registered(dataset));
            Publication.deleteIfEmpty(layout.dataset(dataset));
        } catch (IOException e) {
            throw Space.failed("cannot forget the sources of a dataset", layout.registered(dataset), e);
        }
    }
}
