package dev.larder.server.store;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.Digest;
import dev.larder.internal.layout.IndexWriter;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.space.Mount;
import dev.larder.server.store.space.Occupied;
import dev.larder.server.store.version.Manifest;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.ShardRecord;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes versions of several datasets visible, all or none. One use, one thread. */
final class Publication {
    /*
     * The publication and removal of a version
     *
     * A version is a folder. Only the daemon renames it, and each of its states has one place:
     *
     *   incoming/<number>-<name>   being written: by the daemon, or by the client of an upload
     *   data/<dataset>/<version>   published: its arrays and its index never change
     *   data/<dataset>/current     a link to the newest published version
     *   incoming/<number>-gone     hidden: its files are being unlinked
     *
     * A client reads "current", takes a shared flock on the file "lease" of the version, and then checks that the file still has a
     * name. If the lock or the check fails, it reads "current" again. The kernel releases the lock when the last descriptor is closed,
     * even if the process is killed, so a dead reader does not keep a version.
     *
     * Publication. prepare() writes the remaining files in incoming. commit() then makes one rename at a time:
     *
     *   1. it creates the new links in incoming
     *   2. if there are several versions, it records the moves in incoming/intent
     *   3. it renames each folder into data: each version is complete from its first moment, but clients do not look for it yet
     *   4. it renames each new link over "current": clients find the version
     *   5. it deletes the record
     *
     * If a step fails, takeBack() undoes the earlier ones in reverse order. If the daemon dies, the next start decides:
     *
     *   before 3   no version is in data; the start empties incoming. With a record, it makes all moves and publishes all versions
     *   during 3   the record lists the remaining moves; the start makes them
     *   during 4   the start points every link to the newest whole version
     *   before 5   all moves have been made, and the record changes nothing
     *
     * Removal. The daemon takes the exclusive flock on "lease", which fails while any client reads the version. With the lock, it
     * records the sources in "registered" if the dataset is to be loaded again on request, deletes the link "current", renames the
     * folder into incoming, and unlinks its files. A client that opened "lease" before gets the lock after the removal, but finds
     * that the file has no name any more. If the daemon dies before the rename, the next start finds a whole version and keeps it;
     * if it dies later, the version is in incoming, and the record of its sources remains.
     *
     * Nothing is synced to the disk. The kernel keeps the writes of a dead process, but not of a dead machine; Adoption handles that.
     */
    private static final Logger LOG = LoggerFactory.getLogger(Publication.class);

    private final Posix posix;
    private final StoreLayout layout;
    private final Supplier<Path> newPaths;
    private final Intent intent;
    private final List<Step> steps = new ArrayList<>();

    /** The progress of one version. */
    private static final class Step {
        private final IncomingVersion incoming;
        private final PublishedVersion version;
        private @Nullable Path link;
        private @Nullable Path previous;
        private boolean moved;
        private boolean visible;

        Step(IncomingVersion incoming, PublishedVersion version) {
            this.incoming = incoming;
            this.version = version;
        }
    }

    /**
     * Prepares a publication.
     *
     * @param newPaths returns unused paths in {@code incoming}
     */
    Publication(Posix posix, StoreLayout layout, Supplier<Path> newPaths) {
        this.posix = posix;
        this.layout = layout;
        this.newPaths = newPaths;
        this.intent = new Intent(layout);
    }

    /** Writes the files that a version has besides its segments. Nothing becomes visible. */
    void prepare(IncomingVersion incoming, long version, long nowEpochMs) throws IOException {
        List<ArrayEntry> arrays = incoming.arrays().stream()
                .sorted(Comparator.comparing(ArrayEntry::name))
                .toList();
        List<SegmentFile> segments = segments(incoming, arrays);
        PublishedVersion complete = new PublishedVersion(
                incoming.dataset(),
                version,
                layout.version(incoming.dataset(), version),
                Digest.hex(Digest.of(arrays)),
                nowEpochMs,
                Occupied.ofSegments(posix, incoming.folder(), segments) + Mount.manifestBytes(layout.root()),
                arrays,
                incoming.provenance());
        write(incoming, StoreLayout.INDEX, IndexWriter.write(arrays, segments, version, nowEpochMs));
        write(incoming, StoreLayout.LEASE, new byte[0]);
        if (incoming.isPinned()) {
            write(incoming, StoreLayout.PINNED, new byte[0]);
        }
        ShardRecord shard = incoming.provenance().shard();
        if (shard != null) {
            write(incoming, StoreLayout.SHARD, shard.file().text().getBytes(StandardCharsets.US_ASCII));
        }
        writeManifest(incoming.folder().resolve(StoreLayout.MANIFEST), complete);
        Modes.share(incoming.folder());
        steps.add(new Step(incoming, complete));
    }

    /** Makes all prepared versions visible. If it fails, none is visible. Does not sync to the disk. */
    List<PublishedVersion> commit() throws IOException {
        try {
            for (Step step : steps) {
                step.link = newLinkTo(step.version);
                step.previous = currentOf(step.version);
                makeFolder(layout.dataset(step.version.dataset()));
            }
            if (steps.size() > 1) {
                intent.write(moves(), newPaths.get());
            }
            for (Step step : steps) {
                Files.move(step.incoming.folder(), step.version.folder(), StandardCopyOption.ATOMIC_MOVE);
                step.moved = true;
            }
            for (Step step : steps) {
                point(step, step.link);
                step.visible = true;
            }
        } catch (IOException | RuntimeException | Error e) {
            takeBack(e);
            throw e;
        }
        steps.forEach(step -> step.incoming.markPublished());
        clearIntent();
        return steps.stream().map(step -> step.version).toList();
    }

    private List<Intent.Move> moves() {
        return steps.stream()
                .map(step -> new Intent.Move(step.incoming.folder(), step.version.dataset(), step.version.version()))
                .toList();
    }

    /** Removes the record of the moves. If that fails, a later start finds nothing left to do in it. */
    private void clearIntent() {
        try {
            intent.clear();
        } catch (IOException e) {
            LOG.warn("cannot remove the record of a publication: {}", e.toString());
        }
    }

    /** Undoes all steps in reverse order. Adds further failures to {@code failure} as suppressed ones. */
    private void takeBack(Throwable failure) {
        List<Step> backwards = new ArrayList<>(steps);
        Collections.reverse(backwards);
        for (Step step : backwards) {
            try {
                takeBack(step);
            } catch (IOException | RuntimeException e) {
                failure.addSuppressed(e);
            }
        }
        clearIntent();
    }

    private void takeBack(Step step) throws IOException {
        if (step.visible && step.previous == null) {
            Files.deleteIfExists(layout.current(step.version.dataset()));
        } else if (step.visible) {
            point(step, Files.createSymbolicLink(newPaths.get(), step.previous));
        }
        if (step.moved) {
            Files.move(step.version.folder(), step.incoming.folder(), StandardCopyOption.ATOMIC_MOVE);
        }
        if (step.link != null) {
            Files.deleteIfExists(step.link);
        }
        deleteIfEmpty(layout.dataset(step.version.dataset()));
    }

    private void point(Step step, @Nullable Path link) throws IOException {
        if (link != null) {
            Files.move(link, layout.current(step.version.dataset()), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private Path newLinkTo(PublishedVersion version) throws IOException {
        return Files.createSymbolicLink(newPaths.get(), Path.of(Long.toString(version.version())));
    }

    private @Nullable Path currentOf(PublishedVersion version) throws IOException {
        try {
            return Files.readSymbolicLink(layout.current(version.dataset()));
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    static void makeFolder(Path dataset) throws IOException {
        if (!Files.isDirectory(dataset, LinkOption.NOFOLLOW_LINKS)) {
            Modes.makeFolder(dataset);
        }
    }

    /** Removes a folder unless it contains files. The root of a mount stays for the next daemon. */
    static void deleteIfEmpty(Path folder) throws IOException {
        try {
            Files.deleteIfExists(folder);
        } catch (DirectoryNotEmptyException e) {
            return;
        } catch (FileSystemException e) {
            Path real = folder.toRealPath();
            if (Mount.of(real).filter(mount -> mount.point().equals(real)).isEmpty()) {
                throw e;
            }
        }
    }

    private static List<SegmentFile> segments(IncomingVersion incoming, List<ArrayEntry> arrays) throws IOException {
        Map<String, SegmentFile> segments = new TreeMap<>(incoming.outside());
        for (ArrayEntry array : arrays) {
            String file = array.file();
            if (!segments.containsKey(file)) {
                long byteSize = Files.size(incoming.folder().resolve(file));
                segments.put(file, SegmentFile.inStore(file, byteSize));
            }
        }
        return List.copyOf(segments.values());
    }

    static void writeManifest(Path file, PublishedVersion version) throws IOException {
        write(file, writer -> Manifest.write(version, writer));
    }

    /** The contents of a file that no process reads before it is complete. */
    interface Content {
        void writeTo(Writer writer) throws IOException;
    }

    static void write(Path file, Content content) throws IOException {
        newFile(file);
        try (Writer writer = Files.newBufferedWriter(file, StandardCharsets.UTF_8, StandardOpenOption.WRITE)) {
            content.writeTo(writer);
        }
        Modes.seal(file);
    }

    private static void newFile(Path file) throws IOException {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    private static void write(IncomingVersion incoming, String name, byte[] content) throws IOException {
        Path file = incoming.folder().resolve(name);
        newFile(file);
        Files.write(file, content, StandardOpenOption.WRITE);
        Modes.seal(file);
    }
}
