package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.Posix;
import dev.larder.npy.NpyHeader;
import dev.larder.reader.Target;
import dev.larder.server.source.ScratchFolders;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The folder that a reader runs in: has its temporary files and the files that it fills. Closing it removes everything. */
final class ReaderFolder implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReaderFolder.class);
    private static final int WRITABLE = 0600;

    /** The limit for temporary files, such as libraries that a reader unpacks. */
    private static final long MOST_TEMPORARY_BYTES = 64L << 20;

    private final Path path;
    private final ScratchFolders scratch;
    private long expectedBytes = MOST_TEMPORARY_BYTES;

    private ReaderFolder(Path path, ScratchFolders scratch) {
        this.path = path;
        this.scratch = scratch;
    }

    static ReaderFolder in(ScratchFolders scratch) {
        try {
            return new ReaderFolder(scratch.newFolder().toAbsolutePath(), scratch);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot make a folder for a reader")
                    .with("reason", e)
                    .cause(e)
                    .remedy("check the store's file system");
        }
    }

    Path path() {
        return path;
    }

    /** Returns the file for the array of an offer. */
    Path file(int offer) {
        return path.resolve(offer + ".npy");
    }

    /** Makes the file of an array: its header, and room for its data. */
    Target newTarget(int offer, NpyHeader header) {
        ByteBuffer head = StoreLayout.header(header);
        int headBytes = head.remaining();
        long byteSize = ByteSums.add(headBytes, header.byteSize());
        Posix posix = Posix.system();
        int descriptor = posix.openOrCreate(file(offer), WRITABLE);
        try {
            BulkIo.system().resize(descriptor, byteSize);
            HugePages.reserve(posix, descriptor, 0, byteSize);
        } catch (LarderException e) {
            throw e.code() == ErrorCode.NO_SPACE ? full(byteSize, e) : e;
        } finally {
            posix.close(descriptor);
        }
        try (var channel = Files.newByteChannel(file(offer), java.nio.file.StandardOpenOption.WRITE)) {
            while (head.hasRemaining()) {
                channel.write(head);
            }
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot write a header for a reader")
                    .with("reason", e)
                    .cause(e)
                    .exception();
        }
        expectedBytes += ByteSums.roundUp(byteSize, PageSize.HUGE_BYTES);
        return new Target(offer, file(offer), headBytes, header.byteSize());
    }

    private static LarderException full(long byteSize, LarderException cause) {
        return Failure.of(ErrorCode.NO_SPACE, "the store's file system is full")
                .with("needed", byteSize)
                .with("reason", cause)
                .cause(cause)
                .remedy("something else used the space; " + Remedy.FREE_SPACE);
    }

    /** Refuses a file that the reader made shorter or longer. */
    void requireLength(Target target) {
        long expected = target.offset() + target.byteSize();
        try {
            long found = Files.size(target.path());
            if (found == expected) {
                return;
            }
            throw Failure.of(ErrorCode.UNEXPECTED, "a reader changed the length of a file that was made for it")
                    .with("bytes", found)
                    .with("expected", expected)
                    .remedy("replace the reader");
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "a reader removed a file that was made for it")
                    .with("reason", e)
                    .cause(e)
                    .remedy("replace the reader");
        }
    }

    /** Adds room for files that the reader fills: for each a header, which takes more than a page, and the rest of its last page. */
    void expect(long files, long byteSize) {
        expectedBytes += ByteSums.add(byteSize, ByteSums.multiply(files, 3L * PageSize.BYTES));
    }

    /** Returns how much may lie here. */
    long expectedBytes() {
        return expectedBytes;
    }

    /** Returns the length of all files in the folder. */
    long occupiedBytes() {
        return scratch.occupiedBytes(path);
    }

    @Override
    public void close() {
        try {
            Files.walkFileTree(path, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure)
                        throws IOException {
                    Files.deleteIfExists(folder);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            LOG.warn("the folder of a reader was not removed: folder={} reason={}", path, e.toString());
        }
    }
}
