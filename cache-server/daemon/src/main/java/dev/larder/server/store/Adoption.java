package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.ArrayEntry;
import dev.larder.layout.IndexReader;
import dev.larder.layout.SegmentFile;
import dev.larder.layout.StoreLayout;
import dev.larder.posix.FileStatus;
import dev.larder.posix.Posix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads back what an earlier daemon published in a store. */
final class Adoption {
    private final Posix posix;
    private final StoreLayout layout;
    private final BiConsumer<Path, RuntimeException> onDamaged;

    Adoption(Posix posix, StoreLayout layout, BiConsumer<Path, RuntimeException> onDamaged) {
        this.posix = posix;
        this.layout = layout;
        this.onDamaged = onDamaged;
    }

    /** Reads every version that is whole, and removes whatever else lies there: it is rubbish, and may stand in the way. */
    List<PublishedVersion> versions() throws IOException {
        List<PublishedVersion> versions = new ArrayList<>();
        for (Path dataset : entries(layout.data())) {
            List<PublishedVersion> whole = isFolder(dataset) ? versions(dataset) : List.of();
            if (whole.isEmpty()) {
                new Removal().remove(dataset);
            }
            versions.addAll(whole);
        }
        versions.sort(Comparator.comparing(PublishedVersion::dataset).thenComparing(PublishedVersion::version));
        return versions;
    }

    private List<PublishedVersion> versions(Path dataset) throws IOException {
        List<PublishedVersion> versions = new ArrayList<>();
        for (Path entry : entries(dataset)) {
            if (isFolder(entry)) {
                try {
                    versions.add(read(fileName(dataset), entry));
                } catch (LarderException e) {
                    if (e.code() != ErrorCode.CHECKSUM && e.code() != ErrorCode.REFUSED) {
                        throw e; // such as too many open files: nothing is known about the version itself
                    }
                    new Removal().remove(entry);
                    onDamaged.accept(entry, e);
                }
            } else if (!fileName(entry).equals(StoreLayout.CURRENT)) { // which is replaced in one step, not missed
                new Removal().remove(entry);
            }
        }
        return versions;
    }

    private static boolean isFolder(Path path) {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    private static List<Path> entries(Path parent) throws IOException {
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.toList();
        }
    }

    private PublishedVersion read(String dataset, Path folder) throws IOException {
        Path file = folder.resolve(StoreLayout.INDEX);
        for (Path own :
                List.of(folder, file, folder.resolve(StoreLayout.MANIFEST), folder.resolve(StoreLayout.LEASE))) {
            requireOwn(folder, own);
        }
        IndexReader index;
        try {
            index = new IndexReader(ByteBuffer.wrap(Files.readAllBytes(file)), file);
        } catch (IOException e) {
            throw damaged(folder, "no readable index", e);
        }
        requireNumber(folder, index);
        Provenance provenance = Manifest.readProvenance(folder.resolve(StoreLayout.MANIFEST));
        List<SegmentFile> segments = new ArrayList<>();
        for (int number = 0; number < index.segmentCount(); number++) {
            SegmentFile segment = index.segment(number);
            if (provenance.options().inPlace() && SegmentFile.isOutside(segment.file())) {
                requireUnchanged(folder, segment);
            } else {
                requireSegment(folder, segment.file(), segment.byteSize());
            }
            segments.add(segment);
        }
        List<ArrayEntry> arrays = new ArrayList<>();
        for (int i = 0; i < index.arrayCount(); i++) {
            arrays.add(index.array(i));
        }
        return new PublishedVersion(
                dataset,
                index.version(),
                folder,
                index.digest(),
                index.publishedEpochMs(),
                Store.storedBytes(posix, folder, segments),
                arrays,
                provenance);
    }

    /** What others put here could be anything, and change; a pipe would never end. */
    private static void requireOwn(Path folder, Path file) {
        try {
            Map<String, Object> found =
                    Files.readAttributes(file, "unix:uid,isRegularFile,isDirectory", LinkOption.NOFOLLOW_LINKS);
            boolean isPlain = Boolean.TRUE.equals(found.get(file.equals(folder) ? "isDirectory" : "isRegularFile"));
            if (!isPlain || !Integer.valueOf(Posix.system().userId()).equals(found.get("uid"))) {
                throw damaged(folder, "somebody else put this there: " + file.getFileName(), null);
            }
        } catch (IOException e) {
            throw damaged(folder, "file is missing: " + file.getFileName(), e);
        }
    }

    private static void requireNumber(Path folder, IndexReader index) {
        if (!fileName(folder).equals(Long.toString(index.version()))
                || !Files.exists(folder.resolve(StoreLayout.LEASE))) {
            throw damaged(folder, "index and folder do not fit", null);
        }
    }

    private static void requireSegment(Path folder, String file, long byteSize) throws IOException {
        Path segment = folder.resolve(file).normalize();
        requireOwn(folder, segment);
        if (!segment.startsWith(folder)
                || !Files.isRegularFile(segment, LinkOption.NOFOLLOW_LINKS)
                || Files.size(segment) != byteSize) {
            throw damaged(folder, "segment is missing or has the wrong length: " + file, null);
        }
    }

    /** A file outside the store is only looked at, never removed, whatever it turns out to be. */
    private void requireUnchanged(Path folder, SegmentFile segment) {
        FileStatus found;
        try {
            int descriptor = posix.openForReading(Path.of(segment.file()));
            try {
                found = posix.status(descriptor);
            } finally {
                posix.close(descriptor);
            }
        } catch (LarderException e) {
            throw damaged(folder, "file that is mapped in place cannot be opened: " + segment.file(), null);
        }
        if (found.inode() != segment.inode()
                || found.byteSize() != segment.byteSize()
                || found.modifiedNanos() != segment.modifiedNanos()) {
            throw damaged(folder, "file that is mapped in place has changed: " + segment.file(), null);
        }
    }

    private static RuntimeException damaged(Path folder, String reason, @Nullable IOException cause) {
        Failure failure = Failure.of(ErrorCode.CHECKSUM, "version is damaged")
                .with("folder", folder)
                .with("reason", reason);
        return (cause == null ? failure : failure.cause(cause)).remedy("load the dataset anew");
    }

    private static String fileName(Path path) {
        return String.valueOf(path.getFileName());
    }
}
