package dev.larder.internal;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.posix.Posix;
import dev.larder.npy.NpyHeader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/**
 * The file of one array of a dataset that is being built. Elements that are not written are zero.
 *
 * <p>The space is reserved at the start, so a later write cannot find the store full. Several threads may write different parts
 * of the array.
 */
public final class ArrayFile {
    private static final int WRITABLE = 0600;

    private final String name;
    private final NpyHeader header;
    private final long dataOffset;
    private final long storedBytes;
    private final FileChannel channel;

    private ArrayFile(String name, NpyHeader header, long dataOffset, long storedBytes, FileChannel channel) {
        this.storedBytes = storedBytes;
        this.name = name;
        this.header = header;
        this.dataOffset = dataOffset;
        this.channel = channel;
    }

    /** Returns the length of the file of an array. */
    public static long fileBytes(NpyHeader header) {
        return ByteSums.add(StoreLayout.header(header).remaining(), header.byteSize());
    }

    /** Opens a new file for writing. Creates it unless it exists. */
    static ArrayFile create(Posix posix, Path folder, String name, NpyHeader header) {
        ByteBuffer head = StoreLayout.header(header);
        long dataOffset = head.remaining();
        Path file = folder.resolve(name + ".npy"); // the daemon chooses the final file by the array's name
        try {
            createFolders(folder, file);
            long storedBytes = reserve(posix, file, fileBytes(header));
            FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
            ArrayFile array = new ArrayFile(name, header, dataOffset, storedBytes, channel);
            array.writeAt(0, head);
            return array;
        } catch (NoSuchFileException e) {
            throw gone(name, folder, e);
        } catch (IOException e) {
            throw failed(name, e);
        } catch (LarderException e) {
            throw Files.isDirectory(folder) ? e : gone(name, folder, e);
        }
    }

    /**
     * Creates the folders for the levels of the array's name, but never the build's own folder. If that is missing, its daemon
     * is gone, and a new folder in its place would never be removed.
     */
    private static void createFolders(Path folder, Path file) throws IOException {
        Path level = folder;
        for (int i = folder.getNameCount(); i < file.getNameCount() - 1; i++) {
            level = level.resolve(file.getName(i));
            if (!Files.isDirectory(level)) {
                Files.createDirectory(level);
            }
        }
    }

    private static LarderException gone(String name, Path folder, Exception cause) {
        return Failure.of(ErrorCode.NO_DAEMON, "the daemon of this build is gone, and the build with it")
                .with("array", name)
                .with("folder", folder)
                .cause(cause)
                .remedy(Remedy.START_DAEMON + "; then build the dataset again");
    }

    /** Reserves the space of a file, and returns the number of bytes it occupies. */
    private static long reserve(Posix posix, Path file, long byteSize) {
        int descriptor = posix.openOrCreate(file, WRITABLE);
        try {
            BulkIo.system().resize(descriptor, byteSize);
            HugePages.reserve(posix, descriptor, 0, byteSize);
            return posix.status(descriptor).storedBytes();
        } finally {
            posix.close(descriptor);
        }
    }

    private static LarderException failed(String name, IOException cause) {
        return Failure.of(ErrorCode.UNEXPECTED, "cannot write array")
                .with("array", name)
                .with("reason", cause)
                .cause(cause)
                .remedy("check whether the daemon still runs: larder status");
    }

    /** Returns the number of bytes that the file occupies, which exceeds its length if pages are huge. */
    long storedBytes() {
        return storedBytes;
    }

    /** Returns the array's name within its dataset. */
    public String name() {
        return name;
    }

    /** Returns element type, order and shape. */
    public NpyHeader header() {
        return header;
    }

    /** Returns the length of the data in bytes. */
    public long byteSize() {
        return header.byteSize();
    }

    /** Writes the bytes that remain in a buffer, in memory order, {@code offset} bytes after the start of the data. */
    public void write(long offset, ByteBuffer bytes) {
        Objects.checkFromIndexSize(offset, bytes.remaining(), byteSize());
        try {
            writeAt(dataOffset + offset, bytes);
        } catch (IOException e) {
            throw failed(name, e);
        }
    }

    private void writeAt(long position, ByteBuffer bytes) throws IOException {
        long at = position;
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw failed(name, e);
        }
    }
}
