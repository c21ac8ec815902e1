package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.Digest;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.time.Deadline;
import dev.larder.npy.Dtype;
import dev.larder.server.store.space.Occupied;
import dev.larder.server.store.space.Space;
import dev.larder.server.store.version.Provenance;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;

/**
 * A version that is being written, invisible to readers until {@link Store#publish}. Closing it without publishing removes it completely.
 * Several threads may add arrays at the same time.
 */
public final class IncomingVersion implements AutoCloseable {
    private static final Duration LAST_WRITE = Duration.ofMillis(200);
    private static final long WRITERS_PAUSE_NS = 2_000_000;
    private static final int MOST_REFUSALS = 16;

    private final Posix posix;
    private final String dataset;
    private volatile Provenance provenance;
    private final Path folder;
    private final int fileMode;
    private final WriteStrategy strategy;
    private final boolean writersShow;
    private final AtomicBoolean cancelled = new AtomicBoolean();
    private final AtomicInteger refusedHugePages = new AtomicInteger();
    private final List<ArrayEntry> arrays = new ArrayList<>();
    private final Map<String, SegmentFile> outside = new HashMap<>();
    private boolean published;
    private boolean pinned;

    IncomingVersion(
            Posix posix,
            String dataset,
            Provenance provenance,
            Path folder,
            int fileMode,
            WriteStrategy strategy,
            boolean writersShow) {
        this.posix = posix;
        this.dataset = dataset;
        this.provenance = provenance;
        this.folder = folder;
        this.fileMode = fileMode;
        this.strategy = strategy;
        this.writersShow = writersShow;
    }

    /** Returns the dataset of the new version. */
    public String dataset() {
        return dataset;
    }

    /** Returns its sources. */
    public Provenance provenance() {
        return provenance;
    }

    /** Sets the provenance, the part included that is known only once the digest is. */
    public void provenance(Provenance known) {
        provenance = known;
    }

    /** Pins the version from the moment it is published. */
    public void pin() {
        pinned = true;
    }

    /** Returns whether it is pinned from the moment it is published. */
    public boolean isPinned() {
        return pinned;
    }

    /** Returns its folder in {@code incoming}. */
    public Path folder() {
        return folder;
    }

    /** Makes every present and later copy end with a {@link CancellationException}. */
    public void cancel() {
        cancelled.set(true);
    }

    /** Creates a file of the version, and the folders above it. The caller closes it. */
    public IncomingSegment newSegment(String file, long byteSize) {
        Path path = folder.resolve(file);
        try {
            makeFolders(folder.relativize(path));
        } catch (IOException e) {
            throw Space.failed("cannot create a folder for an array", path, e);
        }
        return IncomingSegment.create(posix, this, path, byteSize, strategy);
    }

    /** Creates an empty file for a member of the group to write. No other process learns its name. */
    public void makeFileForMember(String file) {
        Path path = folder.resolve(file);
        try {
            Path name = folder.relativize(path);
            for (int levels = 1; levels < name.getNameCount(); levels++) {
                Path parent = folder.resolve(name.subpath(0, levels));
                if (!Files.isDirectory(parent)) {
                    Modes.makePassage(parent);
                }
            }
            Modes.makeFileForMember(path);
        } catch (FileAlreadyExistsException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "two arrays have the same name")
                    .with("dataset", dataset)
                    .with("file", file)
                    .cause(e)
                    .remedy("give them different names");
        } catch (IOException e) {
            throw Space.failed("cannot create a file for a member of the group", path, e);
        }
    }

    /** Makes files read-only. Processes that already have them open for writing are found when the version is published. */
    public void sealFiles(Collection<String> files) {
        for (String file : files) {
            Path path = folder.resolve(file);
            try {
                Modes.seal(path);
            } catch (IOException e) {
                throw Space.failed("cannot seal a file", path, e);
            }
        }
    }

    /** Returns the status of a file that was created here. */
    public FileStatus statusOf(String file) {
        return Occupied.status(posix, folder.resolve(file));
    }

    /** Frees the memory of files even if processes still have them open. If one fails, the others are emptied all the same. */
    public void emptyFiles(Collection<String> files) {
        LarderException first = null;
        for (String file : files) {
            Path path = folder.resolve(file);
            try {
                if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) { // otherwise it was published
                    Modes.makeWritable(path);
                    empty(path);
                }
            } catch (IOException e) {
                LarderException failure = Space.failed("cannot empty a file", path, e);
                first = first == null ? failure : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private static void empty(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            channel.truncate(0);
        }
    }

    /**
     * Moves a file that another process wrote into this version as a segment, and makes sure that no process can still write to it. A
     * program that has just been forked holds its parent's descriptors for a moment, so the check is repeated for a while.
     *
     * @param offset the start of its data
     * @param length the length of its data, in bytes
     * @return the CRC32C of the data; empty, with the file back in its old place, if a process may still write to it, so that it must be
     *     copied
     */
    public OptionalInt moveIn(Path written, String file, long offset, long length, LongConsumer onBytes) {
        if (!writersShow) {
            return OptionalInt.empty();
        }
        Path path = folder.resolve(file);
        try {
            makeFolders(folder.relativize(path));
            Files.move(written, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw Space.failed("cannot move a file into the store", written, e);
        }
        int descriptor = posix.openForReading(path);
        try {
            posix.changeMode(descriptor, fileMode);
            if (!awaitNoWriters(descriptor)) {
                moveBack(path, written);
                return OptionalInt.empty();
            }
            if (posix.status(descriptor).byteSize() != offset + length) {
                throw Failure.of(ErrorCode.BAD_INPUT, "a file changed while it was published")
                        .with("dataset", dataset)
                        .with("file", file)
                        .with("bytes", posix.status(descriptor).byteSize())
                        .with("expected", offset + length)
                        .remedy("build it again");
            }
        } finally {
            posix.close(descriptor);
        }
        return OptionalInt.of(checksum(path, offset, length, onBytes));
    }

    private boolean awaitNoWriters(int descriptor) {
        Deadline deadline = Deadline.after(LAST_WRITE);
        while (posix.hasWriters(descriptor)) {
            requireNotCancelled();
            if (deadline.isOver()) {
                return false;
            }
            LockSupport.parkNanos(WRITERS_PAUSE_NS);
        }
        return true;
    }

    private static void moveBack(Path path, Path written) {
        try {
            Files.move(path, written, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw Space.failed("cannot move a file back", written, e);
        }
    }

    private int checksum(Path path, long offset, long length, LongConsumer onBytes) {
        CRC32C crc = new CRC32C();
        try {
            long missing = DataChecksum.update(crc, path, offset, length, bytes -> {
                onBytes.accept(bytes);
                requireNotCancelled();
                return true;
            });
            if (missing > 0) {
                throw new EOFException("the file became shorter");
            }
            return (int) crc.getValue();
        } catch (IOException e) {
            throw Space.failed("cannot read an array", path, e);
        }
    }

    /** Returns whether to try huge pages further: a refusal can take as long as a copy. */
    boolean mayAskForHugePages() {
        return refusedHugePages.get() < MOST_REFUSALS;
    }

    void noteRefusedHugePage() {
        refusedHugePages.incrementAndGet();
    }

    int fileMode() {
        return fileMode;
    }

    void requireNotCancelled() {
        if (cancelled.get()) {
            throw new CancellationException("load was cancelled: dataset=" + dataset);
        }
    }

    /** Adds an array that stays in a file outside the store. */
    public synchronized void addInPlace(ArrayEntry entry, SegmentFile file) {
        add(entry);
        outside.put(file.file(), file);
    }

    synchronized Map<String, SegmentFile> outside() {
        return Map.copyOf(outside);
    }

    /** Adds an array with its bytes in this version. */
    public synchronized void add(ArrayEntry entry) {
        requireListable(entry);
        arrays.add(entry);
    }

    /** Rejects an array that does not fit into a listing: it would prevent the listing of all others. */
    private void requireListable(ArrayEntry entry) {
        String objection = ArrayRow.objection(dataset + "/" + entry.name(), Dtype.parse(entry.dtype()));
        if (objection != null) {
            throw Failure.of(ErrorCode.BAD_INPUT, "array cannot be listed")
                    .with("dataset", dataset)
                    .with("array", entry.name())
                    .with("reason", objection)
                    .remedy("shorten its name or the names of its fields");
        }
    }

    synchronized List<ArrayEntry> arrays() {
        return List.copyOf(arrays);
    }

    /** Returns the digest of the arrays added so far, in hex. */
    public String digest() {
        return Digest.hex(Digest.of(arrays()));
    }

    /** Creates the folders above a file one by one: if the version was removed meanwhile, its folder must not come back. */
    private void makeFolders(Path file) throws IOException {
        Path parent = folder;
        for (int i = 0; i < file.getNameCount() - 1; i++) {
            parent = parent.resolve(file.getName(i));
            if (!Files.isDirectory(parent)) {
                makeFolder(parent);
            }
        }
    }

    private static void makeFolder(Path folder) throws IOException {
        try {
            Modes.makeFolder(folder);
        } catch (FileAlreadyExistsException e) {
            return; // another copy was faster
        }
    }

    void markPublished() {
        published = true;
    }

    /** Removes the files, unless the version was published. */
    @Override
    public void close() {
        if (!published) {
            cancel();
            try {
                new Removal().remove(folder);
            } catch (IOException e) {
                throw Failure.of(ErrorCode.UNEXPECTED, "cannot remove an unfinished load")
                        .with("folder", folder)
                        .with("reason", e)
                        .cause(e)
                        .remedy("the next start of the daemon removes it");
            }
        }
    }
}
