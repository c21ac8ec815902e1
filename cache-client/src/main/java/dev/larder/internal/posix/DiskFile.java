package dev.larder.internal.posix;

import com.sun.jna.Native;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An open file on a disk or server, which may not be in memory. Calls read its rows, and throw exceptions if the disk fails or the file has
 * become shorter. A mapping would raise SIGBUS. Thread-safe.
 */
public final class DiskFile implements AutoCloseable {
    private static final int EINTR = 4;

    /** The length of a request if the device reports no limit. */
    private static final long USUAL_REQUEST_BYTES = 128 << 10;

    private static final int STATUS_LENGTH = 256; // struct statfs, which begins with the type

    /** The types of file systems that keep files in memory: tmpfs, ramfs and hugetlbfs. */
    private static final Set<Long> MEMORY_TYPES = Set.of(0x0102_1994L, 0x8584_58f6L, 0x9584_58f6L);

    private final Posix posix;
    private final Path file;
    private final int descriptor;
    private final Cleaner.Cleanable closing;

    /** The most bytes of a request; 0 before the first long one. */
    private volatile long requestBytes;

    private DiskFile(Posix posix, Path file, int descriptor) {
        this.posix = posix;
        this.file = file;
        this.descriptor = descriptor;
        this.closing = MappedMemory.CLEANER.register(this, () -> posix.close(descriptor));
    }

    /** Opens a file for reads in any order. Returns null if its file system keeps files in memory. */
    public static @Nullable DiskFile open(Posix posix, Path file) {
        return isInMemory(file) ? null : openAny(posix, file);
    }

    static DiskFile openAny(Posix posix, Path file) {
        int descriptor = posix.openForReading(file);
        LibC.posix_fadvise(descriptor, 0, 0, LibC.POSIX_FADV_RANDOM); // else a read would also fetch pages around it
        return new DiskFile(posix, file, descriptor);
    }

    private static boolean isInMemory(Path file) {
        byte[] status = new byte[STATUS_LENGTH];
        return LibC.statfs(JnaPosix.cString(file), status) == 0
                && MEMORY_TYPES.contains(
                        ByteBuffer.wrap(status).order(ByteOrder.nativeOrder()).getLong(0) & 0xffff_ffffL);
    }

    /** Returns its path. */
    public Path path() {
        return file;
    }

    /**
     * Reads a row to an address.
     *
     * @throws LarderException CHECKSUM if the file is too short, UNEXPECTED if the disk fails
     */
    public void read(long row, long position, long address, long byteSize) {
        for (long done = 0; done < byteSize; ) {
            long read = LibC.pread(descriptor, address + done, byteSize - done, position + done);
            if (read > 0) {
                done += read;
                continue;
            }
            int errno = read == 0 ? 0 : Native.getLastError();
            if (errno != EINTR) {
                throw notRead(row, position + done, errno);
            }
        }
    }

    private LarderException notRead(long row, long position, int errno) {
        Failure failure = Failure.of(errno == 0 ? ErrorCode.CHECKSUM : ErrorCode.UNEXPECTED, "row not read")
                .with("file", file)
                .with("row", row)
                .with("offset", position);
        return errno == 0
                ? failure.with("fileBytes", posix.status(descriptor).byteSize())
                        .remedy(
                                "the file has become shorter since it was loaded: restore it, or load the dataset again")
                : failure.with("errno", errno)
                        .with("reason", LibC.strerror(errno))
                        .remedy("check the disk or the server of this file (dmesg), or restore the file from a copy");
    }

    /** Requests that the kernel read a range into memory, and does not wait for it. A disk that fails is reported when the range is read. */
    public void readAhead(long position, long byteSize) {
        long most = byteSize <= USUAL_REQUEST_BYTES ? USUAL_REQUEST_BYTES : requestBytes();
        for (long done = 0; done < byteSize; done += most) {
            LibC.posix_fadvise(descriptor, position + done, Math.min(most, byteSize - done), LibC.POSIX_FADV_WILLNEED);
        }
    }

    private long requestBytes() {
        long known = requestBytes;
        if (known == 0) {
            FileStatus status = posix.status(descriptor);
            known = requestBytes(Path.of("/sys"), status.deviceMajor() + ":" + status.deviceMinor());
            requestBytes = known;
        }
        return known;
    }

    /** Returns the most bytes that the kernel reads for a request: the read-ahead or the longest transfer of a device. It ignores the rest. */
    static long requestBytes(Path sys, String device) {
        Path block = sys.resolve("dev/block").resolve(device);
        return Stream.of(
                        block.resolve("queue"),
                        block.resolve("../queue"),
                        sys.resolve("class/bdi").resolve(device))
                .flatMap(folder -> Stream.of(folder.resolve("read_ahead_kb"), folder.resolve("max_sectors_kb")))
                .mapToLong(DiskFile::kibibytes)
                .filter(found -> found > 0)
                .max()
                .orElse(USUAL_REQUEST_BYTES);
    }

    private static long kibibytes(Path file) {
        try {
            return Long.parseLong(Files.readString(file).strip()) << 10;
        } catch (IOException | NumberFormatException unknown) {
            return 0;
        }
    }

    /** Closes the file. No thread may read it any more. Idempotent; the garbage collector closes an unreachable file. */
    @Override
    public void close() {
        closing.clean();
    }
}
