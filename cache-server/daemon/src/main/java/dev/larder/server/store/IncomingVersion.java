package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.ArrayEntry;
import dev.larder.layout.StoreLayout;
import dev.larder.npy.NpyHeader;
import dev.larder.posix.Posix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;

/**
 * A version that is being written, invisible to readers until {@link Store#publish}. Closing it without publishing removes
 * every trace. Arrays may be added from several threads at once.
 */
public final class IncomingVersion implements AutoCloseable {
    /** Small enough to stay in a core's cache between reading, checksum and writing. */
    private static final int COPY_STEP_BYTES = 256 << 10;

    /** Reserved at once; between two steps a load can be cancelled. */
    private static final long RESERVE_STEP_BYTES = 64L << 20;

    private static final int WRITABLE = 0600;

    /** One direct buffer for each copying thread: they are few. */
    private static final ThreadLocal<ByteBuffer> STEP =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(COPY_STEP_BYTES));

    private final Posix posix;
    private final String dataset;
    private final List<String> origins;
    private final Path folder;
    private final int fileMode;
    private final AtomicBoolean cancelled = new AtomicBoolean();
    private final List<ArrayEntry> arrays = new ArrayList<>();
    private final List<SourceRecord> sources = new ArrayList<>();
    private boolean published;

    IncomingVersion(Posix posix, String dataset, List<String> origins, Path folder, int fileMode) {
        this.posix = posix;
        this.dataset = dataset;
        this.origins = List.copyOf(origins);
        this.folder = folder;
        this.fileMode = fileMode;
    }

    /** Returns the dataset that this will be a version of. */
    public String dataset() {
        return dataset;
    }

    List<String> origins() {
        return origins;
    }

    Path folder() {
        return folder;
    }

    /** Makes every copy that is under way, and every later one, end with a {@link CancellationException}. */
    public void cancel() {
        cancelled.set(true);
    }

    /**
     * Copies one array from its source: reserves the space, writes header and data, and computes the checksum in the same pass.
     *
     * @param data exactly the array's bytes, as numpy has them in memory; not closed here
     * @param onBytes told of every step
     */
    public void add(String array, NpyHeader header, ReadableByteChannel data, SourceRecord source, LongConsumer onBytes)
            throws IOException {
        String file = StoreLayout.arrayFile(array);
        Path path = folder.resolve(file);
        ByteBuffer head = header.encode(StoreLayout.DATA_ALIGNMENT);
        long offset = head.remaining();
        requireNotCancelled(array);
        reserve(array, path, offset + header.byteSize());
        int crc32c;
        try (FileChannel target = FileChannel.open(path, StandardOpenOption.WRITE)) {
            writeFully(path, target, head);
            crc32c = copy(array, header.byteSize(), data, path, target, onBytes);
        }
        seal(path);
        char order = header.order().name().charAt(0);
        String dtype = header.dtype().descr();
        add(new ArrayEntry(array, dtype, order, header.shape(), file, offset, header.byteSize(), crc32c), source);
    }

    private synchronized void add(ArrayEntry entry, SourceRecord source) {
        arrays.add(entry);
        sources.add(source);
    }

    synchronized List<ArrayEntry> arrays() {
        return List.copyOf(arrays);
    }

    synchronized List<SourceRecord> sources() {
        return List.copyOf(sources);
    }

    private void reserve(String array, Path path, long byteSize) {
        try {
            makeFolders(folder.relativize(path));
        } catch (IOException e) {
            throw Space.failed("cannot make a folder for an array", path, e);
        }
        int descriptor = posix.openOrCreate(path, WRITABLE);
        try {
            for (long at = 0; at < byteSize; at += RESERVE_STEP_BYTES) {
                requireNotCancelled(array);
                posix.reserve(descriptor, at, Math.min(RESERVE_STEP_BYTES, byteSize - at));
            }
        } catch (LarderException e) {
            throw e.code() == ErrorCode.NO_SPACE ? full(array, byteSize, e) : e;
        } finally {
            posix.close(descriptor);
        }
    }

    /** Makes the folders above a file one by one: a version that was removed meanwhile must not come back. */
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
            Files.createDirectory(folder, Store.folderMode());
        } catch (FileAlreadyExistsException e) {
            return; // another copy was faster
        }
    }

    private LarderException full(String array, long byteSize, LarderException cause) {
        return Failure.of(ErrorCode.NO_SPACE, "the store's file system is full")
                .with("dataset", dataset)
                .with("array", array)
                .with("needed", byteSize)
                .with("reason", cause.getMessage())
                .cause(cause)
                .remedy("evict datasets, or use a larger mount");
    }

    private void requireNotCancelled(String array) {
        if (cancelled.get()) {
            throw new CancellationException("load was cancelled: dataset=" + dataset + " array=" + array);
        }
    }

    private int copy(
            String array, long byteSize, ReadableByteChannel data, Path path, FileChannel target, LongConsumer onBytes)
            throws IOException {
        ByteBuffer step = STEP.get();
        CRC32C crc = new CRC32C();
        long copied = 0;
        while (copied < byteSize) {
            requireNotCancelled(array);
            step.clear().limit((int) Math.min(step.capacity(), byteSize - copied));
            if (data.read(step) < 0) {
                throw Failure.of(ErrorCode.BAD_INPUT, "source ends early")
                        .with("dataset", dataset)
                        .with("array", array)
                        .with("offset", copied)
                        .with("expected", byteSize)
                        .remedy("it was truncated, or changed while it was read");
            }
            int length = step.flip().remaining();
            crc.update(step.duplicate());
            writeFully(path, target, step);
            copied += length;
            onBytes.accept(length);
        }
        return (int) crc.getValue();
    }

    private void seal(Path path) {
        int descriptor = posix.openForReading(path);
        try {
            posix.changeMode(descriptor, fileMode);
        } finally {
            posix.close(descriptor);
        }
    }

    private static void writeFully(Path path, FileChannel target, ByteBuffer bytes) {
        try {
            while (bytes.hasRemaining()) {
                target.write(bytes);
            }
        } catch (IOException e) {
            throw Space.failed("cannot write an array", path, e);
        }
    }

    void markPublished() {
        published = true;
    }

    /** Removes what was written, unless it was published. */
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
                        .remedy("it goes with the next start of the daemon");
            }
        }
    }
}
