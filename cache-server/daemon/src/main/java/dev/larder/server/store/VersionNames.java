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
 * What the names in a store lead to: versions, pins, the links to the newest, notes of what can be loaded. Every change of one
 * excludes all others, so that nothing that is looked at is published or removed meanwhile. Thread-safe.
 */
final class VersionNames {
    private static final Logger LOG = LoggerFactory.getLogger(VersionNames.class);

    private final StoreLayout layout;
    private final Supplier<Path> newPlaces;

    /** Addresses a store; {@code newPlaces} gives places in it where nobody looks. */
    VersionNames(StoreLayout layout, Supplier<Path> newPlaces) {
        this.layout = layout;
        this.newPlaces = newPlaces;
    }

    /** Makes what was prepared visible. */
    synchronized List<PublishedVersion> publish(Publication publication) throws IOException {
        List<PublishedVersion> published = publication.commit();
        published.forEach(this::removeNote); // here, or it could be that of an eviction that follows at once
        return published;
    }

    private void removeNote(PublishedVersion version) {
        try {
            Files.deleteIfExists(layout.registered(version.dataset()));
        } catch (IOException e) {
            LOG.warn(
                    "cannot forget the sources of a dataset: {}",
                    Failure.words(e)); // the next start does not look at it
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
            Path link = Files.createSymbolicLink(newPlaces.get(), Path.of(Long.toString(version.version())));
            try {
                Files.move(link, layout.current(version.dataset()), StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(link); // it stays where the move failed
            }
        }
    }

    /** Where a step fails, the version is held back as before. */
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
        removeNote(version);
        return Optional.of(version);
    }

    /** Returns the number that the link of a dataset names; 0 where there is none. */
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

    /** Makes a link anew that is lost, unless the version is; tells whether it did. */
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
     * Moves a version to where nobody looks, in one step; false where it has to stay.
     *
     * @param isLocked whether nobody can lease it; where there was no lease to lock, it may have been published anew since
     */
    synchronized boolean takeOutOfSight(PublishedVersion version, RemovalReason reason, boolean isLocked, Path place)
            throws IOException {
        boolean isPublishedAnew = !isLocked && Files.exists(version.folder().resolve(StoreLayout.LEASE));
        if (isPublishedAnew || (reason != RemovalReason.RETIRED && isPinned(version))) {
            return false;
        }
        boolean isReplaced = hasCurrent(version) && !isCurrent(version);
        if (reason == RemovalReason.COMES_BACK && !isReplaced) {
            keepSource(version); // before the link goes: readers look for one and then for the other, without a daemon
        }
        unlinkCurrent(version);
        moveIfThere(version, place);
        Publication.deleteIfEmpty(layout.dataset(version.dataset()));
        return true;
    }

    /**
     * Notes where a version can be loaded from. Its own manifest stays, so that the version is whole until it is moved away, unless the
     * file system has no space or no inode left for the note: then the manifest becomes the note. The eviction of a version without a
     * manifest has begun.
     */
    private void keepSource(PublishedVersion version) throws IOException {
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

    /** Gives a file another name, in one step; false where it is gone, or the file system has no hard links. */
    private boolean linkTo(Path file, Path name) throws IOException {
        Path draft = newPlaces.get();
        try {
            Files.createLink(draft, file);
        } catch (FileSystemException | UnsupportedOperationException e) {
            return false;
        }
        try {
            Files.move(draft, name, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(draft); // it stays where the name already was one of this file
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
            if (shard != null) { // first, as the manifest is what a daemon compares
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

    /** Puts a file in place, in one step. */
    private void replace(Path file, Publication.Content content) throws IOException {
        Path draft = newPlaces.get();
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
