package dev.larder.server.store;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.Digest;
import dev.larder.internal.layout.IndexWriter;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.lock.LockRecord;
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

/**
 * Makes versions of several datasets visible, all or none. Everything that may well fail comes first; then folders are renamed,
 * which nobody sees who asks for the newest version; then the links that name the newest. What fails is taken back; what a kill cuts
 * short is finished by the next daemon, see {@link Intent}.
 */
final class Publication {
    private static final Logger LOG = LoggerFactory.getLogger(Publication.class);

    private final Posix posix;
    private final StoreLayout layout;
    private final Supplier<Path> newNames;
    private final Intent intent;
    private final List<Step> steps = new ArrayList<>();

    /** One version on its way, and how far it is. */
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

    /** Prepares nothing yet; {@code newNames} gives places in the store where nobody looks. */
    Publication(Posix posix, StoreLayout layout, Supplier<Path> newNames) {
        this.posix = posix;
        this.layout = layout;
        this.newNames = newNames;
        this.intent = new Intent(layout);
    }

    /** Writes what a version has besides its segments; nothing is visible after. */
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

    /**
     * Makes all that was prepared visible; fails with nothing visible.
     *
     * <p>Nothing is synced to the disk here. The order of these steps holds against the end of the daemon, whose writes the kernel
     * keeps. Against the end of the machine it is the next start that protects: a store of an earlier boot is distrusted unless a
     * clean stop has synced it, and then verified; see {@link LockRecord}.
     */
    List<PublishedVersion> commit() throws IOException {
        try {
            for (Step step : steps) {
                step.link = newLinkTo(step.version);
                step.previous = currentOf(step.version);
                makeFolder(layout.dataset(step.version.dataset()));
            }
            if (steps.size() > 1) {
                intent.write(moves(), newNames.get());
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

    /** What is done needs no note; one that stays says nothing new. */
    private void clearIntent() {
        try {
            intent.clear();
        } catch (IOException e) {
            LOG.warn("cannot remove the note of a publication: {}", e.toString());
        }
    }

    /** Puts everything back where it was, the last thing first; what cannot be is added to the failure. */
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
            point(step, Files.createSymbolicLink(newNames.get(), step.previous));
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
        return Files.createSymbolicLink(newNames.get(), Path.of(Long.toString(version.version())));
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

    /** Removes a folder, unless there is something in it, or it is the root of a mount: that stays for the next daemon. */
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

    /** What is put into a file that is complete before anybody looks at it. */
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
