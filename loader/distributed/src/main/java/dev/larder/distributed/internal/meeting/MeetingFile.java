package dev.larder.distributed.internal.meeting;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/**
 * The file of a meeting, open, and locked between {@link #tryLock} and {@link #unlock}. Closing it gives up the lock as well, as
 * does the death of the process.
 */
final class MeetingFile implements AutoCloseable {
    private static final int OWNER_ONLY = 0600;

    private final Path path;
    private final Posix posix = Posix.system();
    private final BulkIo io = BulkIo.system();
    private final int descriptor;
    private boolean isClosed;

    private MeetingFile(Path path, int descriptor) {
        this.path = path;
        this.descriptor = descriptor;
    }

    /** Opens the file, or creates it empty; only its owner has access. */
    static MeetingFile open(Path path) {
        try {
            MeetingFile file = new MeetingFile(path, Posix.system().openOrCreate(path, OWNER_ONLY));
            file.requireOwnAndRegular();
            return file;
        } catch (LarderException e) {
            throw Failure.of(e.code(), "cannot open the rendezvous file")
                    .with("file", path)
                    .with("reason", e)
                    .cause(e)
                    .remedy("its folder must exist, and the file must be yours or absent");
        }
    }

    private void requireOwnAndRegular() {
        FileStatus status = posix.status(descriptor);
        String obstacle = !status.isRegular()
                ? "not a regular file"
                : status.uid() != posix.userId() ? "the file belongs to another user" : "";
        if (!obstacle.isEmpty()) {
            close();
            throw Failure.of(ErrorCode.REFUSED, obstacle)
                    .with("file", path)
                    .with("owner", status.uid())
                    .exception();
        }
    }

    /** Takes the lock if it is free. */
    boolean tryLock() {
        return posix.tryLockExclusive(descriptor);
    }

    void unlock() {
        posix.unlock(descriptor);
    }

    /** Returns whether the path still leads to this file: the last rank of a meeting may have removed it. */
    boolean isInPlace() {
        FileStatus status = posix.status(descriptor);
        try {
            Map<String, Object> there = Files.readAttributes(path, "unix:ino", LinkOption.NOFOLLOW_LINKS);
            return status.isLinked() && Long.valueOf(status.inode()).equals(there.get("ino"));
        } catch (IOException gone) {
            return false;
        }
    }

    /** Reads the file, up to the length of a meeting of the most ranks. */
    MeetingFileDescriptor read() {
        long byteSize =
                Math.min(posix.status(descriptor).byteSize(), MeetingFileDescriptor.byteSize(RankSeat.MAX_WORLD_SIZE));
        ByteBuffer direct = ByteBuffer.allocateDirect((int) byteSize);
        long count = byteSize == 0 ? 0 : io.read(descriptor, 0, direct, 0, direct.capacity());
        return MeetingFileDescriptor.wrap(direct.limit((int) count));
    }

    /** Begins a meeting, and overwrites the content of the file. Removes a file that was empty if that fails. */
    MeetingFileDescriptor begin(RankSeat seat, MachineIdentity machine) {
        boolean wasEmpty = posix.status(descriptor).byteSize() == 0;
        ByteBuffer direct = ByteBuffer.allocateDirect(MeetingFileDescriptor.byteSize(seat.worldSize()));
        MeetingFileDescriptor content = MeetingFileDescriptor.begin(direct, seat, machine);
        try {
            io.write(descriptor, 0, direct, 0, direct.capacity());
            io.resize(descriptor, direct.capacity());
            return content;
        } catch (LarderException e) {
            if (wasEmpty) {
                remove();
            }
            throw e;
        }
    }

    /** Writes the slot of one rank back. */
    void writeSlot(MeetingFileDescriptor content, int rank) {
        write(content, MeetingFileDescriptor.byteSize(rank), MeetingFileDescriptor.SLOT_LENGTH);
    }

    /** Writes the header back. */
    void writeHeader(MeetingFileDescriptor content) {
        write(content, 0, MeetingFileDescriptor.HEADER_LENGTH);
    }

    private void write(MeetingFileDescriptor content, int offset, int length) {
        io.write(descriptor, offset, content.bytes(), offset, length);
    }

    /** Removes the file, which is locked and in place. */
    void remove() {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot remove the rendezvous file")
                    .with("file", path)
                    .cause(e)
                    .remedy("remove it by hand");
        }
    }

    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            posix.close(descriptor);
        }
    }
}
