package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.IndexReader;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.FileStamp;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.space.Mount;
import dev.larder.server.store.space.Occupied;
import dev.larder.server.store.version.Manifest;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the folders of versions: index, manifest, and the lengths of segments. Does not read data. All files must belong to one user. Reports a
 * version that is not whole with CHECKSUM. Thread-safe.
 */
final class VersionReader {
    static final String DAMAGED = ".damaged";
    static final String UNVERIFIED = ".unverified";

    private final Posix posix;
    private final int owner;
    private final long manifestBytes;

    VersionReader(Posix posix, StoreLayout layout, int owner) {
        this.posix = posix;
        this.owner = owner;
        this.manifestBytes = Mount.manifestBytes(layout.root());
    }

    /** Returns the version number in the name of a folder, or 0 if it has none. */
    static long number(Path folder) {
        try {
            return Long.parseLong(plainName(fileName(folder)));
        } catch (NumberFormatException noVersion) {
            return 0;
        }
    }

    static String plainName(String folder) {
        for (String suffix : List.of(DAMAGED, UNVERIFIED)) {
            if (folder.endsWith(suffix)) {
                return folder.substring(0, folder.length() - suffix.length());
            }
        }
        return folder;
    }

    PublishedVersion read(String dataset, Path folder) throws IOException {
        Path file = folder.resolve(StoreLayout.INDEX);
        for (Path own : List.of(file, folder.resolve(StoreLayout.MANIFEST), folder.resolve(StoreLayout.LEASE))) {
            requireOwned(folder, own);
        }
        IndexReader index;
        try {
            index = new IndexReader(ByteBuffer.wrap(Files.readAllBytes(file)), file);
            index.requireWhole();
        } catch (IOException e) {
            throw damaged(folder, "no readable index", e);
        }
        if (!plainName(fileName(folder)).equals(Long.toString(index.version()))) {
            throw damaged(folder, "index and folder do not match", null);
        }
        Provenance provenance = Manifest.readProvenance(folder.resolve(StoreLayout.MANIFEST), owner);
        List<SegmentFile> segments = IntStream.range(0, index.segmentCount())
                .mapToObj(index::segment)
                .toList();
        long storedBytes = storedBytes(folder, segments, provenance.options().inPlace()) + manifestBytes;
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
                storedBytes,
                arrays,
                provenance);
    }

    private FileStatus requireOwned(Path folder, Path file) {
        try {
            return Manifest.requireOwned(file, owner);
        } catch (IOException e) {
            throw damaged(folder, "file is missing, or belongs to another user: " + file.getFileName(), e);
        }
    }

    /** Adds up the space that the segments of a version occupy, after checking that each matches the index. */
    private long storedBytes(Path folder, List<SegmentFile> segments, boolean inPlace) {
        LongAdder sum = new LongAdder();
        Optional<RuntimeException> failure = segments.parallelStream()
                .flatMap(segment -> {
                    try {
                        sum.add(storedBytes(folder, segment, inPlace));
                        return Stream.empty();
                    } catch (RuntimeException e) {
                        return Stream.of(e);
                    }
                })
                .findFirst();
        if (failure.isPresent()) {
            throw failure.get();
        }
        return sum.sum();
    }

    private long storedBytes(Path folder, SegmentFile segment, boolean inPlace) {
        if (inPlace && SegmentFile.isOutside(segment.file())) {
            requireUnchanged(folder, segment);
            return 0;
        }
        Path file = folder.resolve(segment.file()).normalize();
        FileStatus found = requireOwned(folder, file);
        if (!file.startsWith(folder) || found.byteSize() != segment.byteSize()) {
            throw damaged(folder, "segment has the wrong length: " + segment.file(), null);
        }
        return found.storedBytes();
    }

    /** Checks a file outside the store. Such a file is never removed. */
    private void requireUnchanged(Path folder, SegmentFile segment) {
        FileStamp found;
        try {
            found = FileStamp.of(Occupied.status(posix, Path.of(segment.file())));
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND && e.code() != ErrorCode.REFUSED) {
                throw e; // such as too many open files
            }
            throw damaged(folder, "file that is mapped in place cannot be opened: " + segment.file(), null);
        }
        if (!found.equals(segment.stamp())) {
            throw damaged(folder, "file that is mapped in place has changed: " + segment.file(), null);
        }
    }

    static LarderException damaged(Path folder, String reason, @Nullable IOException cause) {
        Failure failure = Failure.of(ErrorCode.CHECKSUM, "version is damaged")
                .with("folder", folder)
                .with("reason", reason);
        return (cause == null ? failure : failure.cause(cause)).remedy(Remedy.reload(folder));
    }

    private static String fileName(Path path) {
        return String.valueOf(path.getFileName());
    }
}
