package dev.larder.internal.rows;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.RowsDescriptor;
import dev.larder.internal.layout.RowsDescriptor.Header;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.InterProcess;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.RawMemory;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import dev.larder.npy.Dtype;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * A region of computed rows that this process has open; {@link RowsDescriptor} says what is in it. While it is open, the daemon does
 * not evict it. One that is there is opened without asking the daemon. Thread-safe.
 */
public final class RowsRegion implements AutoCloseable {
    private static final Duration FIRST_PAUSE = Duration.ofNanos(50_000);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(10);
    private static final int NONE = -1;
    private static final int HEAD_BYTES = RegionDescriptor.KIND_OFFSET + RegionDescriptor.KIND_LENGTH;

    private final InterProcess calls = InterProcess.system();
    private final Posix posix = Posix.system();
    private final Path file;
    private final Header header;
    private final MappedMemory memory;
    private final int locks;
    private final int descriptor;
    private final long data;
    private final Set<Long> claimed = new HashSet<>();
    private boolean open = true;

    private RowsRegion(Path file, Header header, MappedMemory memory, int locks, int descriptor) {
        this.file = file;
        this.header = header;
        this.memory = memory;
        this.locks = locks;
        this.descriptor = descriptor;
        this.data = memory.address() + RegionDescriptor.DATA_OFFSET;
    }

    /** Opens the region of these rows, and has the daemon make it first where there is none. */
    public static RowsRegion openOrCreate(Path store, Header wanted, Duration timeout) {
        StoreLayout layout = new StoreLayout(store);
        if (Files.exists(layout.regions())
                && !Files.isWritable(layout.regions())) { // the daemon would make what we cannot open
            throw notOurs(layout.regions(), null);
        }
        Deadline deadline = Deadline.after(timeout);
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
        while (true) {
            Path file = find(layout, wanted.region());
            if (file == null) {
                file = Path.of(ControlClient.at(store)
                        .createRegion(wanted.region(), RowsDescriptor.KIND, wanted.byteSize(), false)
                        .path());
            }
            RowsRegion region = tryOpen(layout, file, wanted);
            if (region != null) {
                return region;
            }
            if (deadline.isOver() || !backoff.pause(deadline)) {
                throw Failure.of(
                                Thread.currentThread().isInterrupted() ? ErrorCode.INTERRUPTED : ErrorCode.DEADLINE,
                                "cannot open computed rows in time")
                        .with("rows", wanted.region())
                        .with("file", file)
                        .remedy(
                                "a daemon or a process may be stopped, or dead, that makes them: see larder status and larder regions");
            }
        }
    }

    /** Returns the file of a region; null where there is none. */
    private static @Nullable Path find(StoreLayout layout, String region) {
        return files(layout.root()).stream()
                .filter(file -> region.equals(RegionDescriptor.nameOf(String.valueOf(file.getFileName()))))
                .findFirst()
                .orElse(null);
    }

    /** Returns the files of all regions of a store, sorted, whatever is in them. */
    public static List<Path> files(Path store) {
        try (Stream<Path> files = Files.list(new StoreLayout(store).regions())) {
            return files.filter(file -> RegionDescriptor.nameOf(String.valueOf(file.getFileName())) != null)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Opens what somebody has made; null where it is being removed, or is not laid out. */
    public static @Nullable RowsRegion tryOpen(Path store, Path file) {
        return tryOpen(new StoreLayout(store), file, null);
    }

    /** Opens a region and lays it out where nobody has; null where it is on its way out, or another process lays it out just now. */
    private static @Nullable RowsRegion tryOpen(StoreLayout layout, Path file, @Nullable Header wanted) {
        int locks = openFile(layout.regions().resolve(RegionDescriptor.LOCKS_FILE));
        int descriptor = NONE;
        @Nullable RowsRegion region = null;
        try {
            long id = RegionDescriptor.idOf(String.valueOf(file.getFileName()));
            if (locks == NONE
                    || !InterProcess.system().tryLockRange(locks, id + RegionDescriptor.ATTACHED_LOCK, 1, false)) {
                return null;
            }
            descriptor = openFile(file);
            if (descriptor != NONE
                    && Posix.system().status(descriptor).isLinked() // else it went before we had it
                    && isMade(file, descriptor)) {
                region = map(file, locks, descriptor, wanted);
            }
            return region;
        } finally {
            if (region == null) {
                Stream.of(descriptor, locks).filter(one -> one != NONE).forEach(Posix.system()::close);
            }
        }
    }

    /** Tells whether the daemon has reserved all of it, which it says last; read, as mapping a hole of a full store ends a process. */
    private static boolean isMade(Path file, int descriptor) {
        ByteBuffer head = ByteBuffer.allocateDirect(HEAD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        long read = BulkIo.system().read(descriptor, 0, head, 0, HEAD_BYTES);
        if (read < HEAD_BYTES || head.getLong(RegionDescriptor.MAGIC_OFFSET) == 0) {
            return false;
        }
        byte[] kind = new byte[RegionDescriptor.KIND_LENGTH];
        head.get(RegionDescriptor.KIND_OFFSET, kind);
        if (head.getLong(RegionDescriptor.MAGIC_OFFSET) != RegionDescriptor.MAGIC
                || head.getInt(RegionDescriptor.FORMAT_VERSION_OFFSET) != StoreLayout.FORMAT_VERSION
                || head.getLong(RegionDescriptor.ID_OFFSET) != RegionDescriptor.idOf(String.valueOf(file.getFileName()))
                || !new String(kind, StandardCharsets.US_ASCII)
                        .replace("\0", "")
                        .equals(RowsDescriptor.KIND)) {
            throw damaged(file, "it is no region of computed rows of this release");
        }
        return true;
    }

    private static int openFile(Path file) {
        try {
            return Posix.system().openForWriting(file);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return NONE;
            }
            throw notOurs(file, e);
        }
    }

    private static LarderException notOurs(Path file, @Nullable LarderException cause) {
        Failure failure = Failure.of(ErrorCode.REFUSED, "computed rows are for processes of the store's owner")
                .with("file", file);
        if (cause != null) {
            failure.cause(cause);
        }
        return failure.remedy("have the owner make a dataset of them: larder freeze NAME");
    }

    private static @Nullable RowsRegion map(Path file, int locks, int descriptor, @Nullable Header wanted) {
        long length = Posix.system().status(descriptor).byteSize();
        requireRoom(file, length, RowsDescriptor.TEXT_OFFSET);
        MappedMemory memory = MappedMemory.writable(Posix.system(), descriptor, length);
        boolean isKept = false;
        try {
            if (!isReady(file, memory, locks, wanted)) {
                return null;
            }
            Header found = read(file, memory);
            if (wanted != null && !found.isFor(wanted)) {
                throw damaged(file, "its rows are of another key");
            }
            isKept = true;
            return new RowsRegion(file, found, memory, locks, descriptor);
        } finally {
            if (!isKept) {
                memory.close();
            }
        }
    }

    /** Touching a byte behind the end of the file would end this process. */
    private static void requireRoom(Path file, long length, long dataBytes) {
        if (length < RegionDescriptor.DATA_OFFSET + dataBytes) {
            throw damaged(file, "it is shorter than its rows");
        }
    }

    /** Lays the region out if that is wanted and has not been done; returns false while another process does it. */
    private static boolean isReady(Path file, MappedMemory memory, int locks, @Nullable Header wanted) {
        long state = memory.address() + RegionDescriptor.STATE_OFFSET;
        long making = RegionDescriptor.idOf(String.valueOf(file.getFileName())) + RegionDescriptor.MAKING_LOCK;
        if (RawMemory.getIntVolatile(state) == RegionDescriptor.STATE_READY) {
            return true;
        }
        if (wanted == null || !InterProcess.system().tryLockRange(locks, making, 1, true)) {
            return false;
        }
        try {
            if (RawMemory.getIntVolatile(state) != RegionDescriptor.STATE_READY) {
                requireRoom(file, memory.byteSize(), wanted.byteSize());
                write(memory, wanted); // whoever died at it wrote the same, and no state: all of them are 0
                RawMemory.putIntVolatile(state, RegionDescriptor.STATE_READY);
            }
            return true;
        } finally {
            InterProcess.system().unlockRange(locks, making, 1);
        }
    }

    private static void write(MappedMemory memory, Header header) {
        long at = memory.address() + RegionDescriptor.DATA_OFFSET;
        byte[] text = header.textBytes();
        RawMemory.putLong(null, at + RowsDescriptor.MAGIC_OFFSET, RowsDescriptor.MAGIC);
        RawMemory.putInt(at + RowsDescriptor.LAYOUT_VERSION_OFFSET, RowsDescriptor.LAYOUT_VERSION);
        RawMemory.putInt(at + RowsDescriptor.TEXT_LENGTH_OFFSET, text.length);
        RawMemory.putLong(null, at + RowsDescriptor.ROWS_OFFSET, header.rows());
        RawMemory.putLong(null, at + RowsDescriptor.ROW_BYTES_OFFSET, header.rowByteSize());
        RawMemory.putLong(null, at + RowsDescriptor.STATES_START_OFFSET, header.statesStart());
        RawMemory.putLong(null, at + RowsDescriptor.DATA_START_OFFSET, header.dataStart());
        RawMemory.putInt(at + RowsDescriptor.TEXT_CRC_OFFSET, RowsDescriptor.crc(text));
        RawMemory.copy(text, RawMemory.arrayOffset(byte[].class), null, at + RowsDescriptor.TEXT_OFFSET, text.length);
    }

    /** Reads the header, and trusts no number that does not fit the others. */
    private static Header read(Path file, MappedMemory memory) {
        long at = memory.address() + RegionDescriptor.DATA_OFFSET;
        long limit = memory.byteSize() - RegionDescriptor.DATA_OFFSET;
        int length = RawMemory.getInt(at + RowsDescriptor.TEXT_LENGTH_OFFSET);
        if (RawMemory.getLong(at + RowsDescriptor.MAGIC_OFFSET) != RowsDescriptor.MAGIC
                || RawMemory.getInt(at + RowsDescriptor.LAYOUT_VERSION_OFFSET) != RowsDescriptor.LAYOUT_VERSION
                || length < 0
                || length > Math.min(RowsDescriptor.TEXT_LIMIT, limit - RowsDescriptor.TEXT_OFFSET)) {
            throw damaged(file, "it has no header of this release");
        }
        byte[] text = new byte[length];
        RawMemory.copy(at + RowsDescriptor.TEXT_OFFSET, text, RawMemory.arrayOffset(byte[].class), length);
        Header header = new Header(
                RawMemory.getLong(at + RowsDescriptor.ROWS_OFFSET),
                RawMemory.getLong(at + RowsDescriptor.ROW_BYTES_OFFSET),
                RawMemory.getLong(at + RowsDescriptor.STATES_START_OFFSET),
                RawMemory.getLong(at + RowsDescriptor.DATA_START_OFFSET),
                RowsDescriptor.lines(text));
        long rows = header.rows();
        boolean fits = RawMemory.getInt(at + RowsDescriptor.TEXT_CRC_OFFSET) == RowsDescriptor.crc(text)
                && rows >= 0
                && header.rowByteSize() >= 0
                && header.rowByteSize() <= RowsDescriptor.MOST_ROW_BYTES
                && header.statesStart() >= RowsDescriptor.TEXT_OFFSET + length
                && header.statesStart() % Long.BYTES == 0
                && rows <= limit / Long.BYTES
                && header.dataStart() <= limit
                && header.statesStart() <= header.dataStart() - rows * Long.BYTES // a sum could wrap around
                && (rows == 0 || header.rowByteSize() <= (limit - header.dataStart()) / rows)
                && isOfItsShape(header);
        if (!fits) {
            throw damaged(file, "its header is damaged");
        }
        return header;
    }

    /** Tells whether a row is as long as its type and shape say; of types that only Python has, nothing is known. */
    private static boolean isOfItsShape(Header header) {
        try {
            long[] shape = header.shape();
            long bytes = Dtype.parse(header.get("dtype")).itemSize();
            for (int i = 1; i < shape.length; i++) {
                bytes = Math.multiplyExact(bytes, Math.max(-1, shape[i]));
                if (bytes < 0) {
                    return false;
                }
            }
            return bytes == header.rowByteSize();
        } catch (NumberFormatException | ArithmeticException e) {
            return false;
        } catch (LarderException e) {
            return true;
        }
    }

    private static LarderException damaged(Path file, String reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "computed rows cannot be used")
                .with("file", file)
                .with("reason", reason)
                .remedy("larder regions --remove " + RegionDescriptor.nameOf(String.valueOf(file.getFileName()))
                        + ", and compute them again");
    }

    /** Returns what it says of itself. */
    public Header header() {
        return header;
    }

    /** Returns its file. */
    public Path file() {
        return file;
    }

    /** Returns its memory, whose data begins at {@link RegionDescriptor#DATA_OFFSET}; closed with this. */
    public MappedMemory memory() {
        return memory;
    }

    /** Reads the state of a row, which the caller has checked the number of; what was written before it can be read after this. */
    public long stateAcquire(long row) {
        try {
            return RawMemory.getLongVolatile(stateAddress(row));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Counts the rows that are published. */
    public long published() {
        long count = 0;
        for (long row = 0; row < header.rows(); row++) {
            count += stateAcquire(row) == RowsDescriptor.EMPTY ? 0 : 1;
        }
        return count;
    }

    /**
     * Takes the claim of a row, which ends with {@link #release}, or with this process; false where another thread or process has it.
     */
    public boolean tryClaim(long row) {
        synchronized (claimed) { // the kernel does not tell threads apart that ask through one descriptor
            requireOpen();
            boolean isTaken = !claimed.contains(row) && calls.tryLockRange(descriptor, row, 1, true);
            if (isTaken) {
                claimed.add(row);
            }
            return isTaken;
        }
    }

    /** Gives a claim up. */
    public void release(long row) {
        synchronized (claimed) {
            if (claimed.remove(row) && open) {
                calls.unlockRange(descriptor, row, 1);
            }
        }
    }

    /** Publishes a row that this thread has the claim of, and that is empty. */
    public void publish(long row, byte[] bytes, CRC32 crc) {
        try {
            RawMemory.copy(bytes, RawMemory.arrayOffset(byte[].class), null, rowAddress(row), header.rowByteSize());
            long state = RowsDescriptor.PUBLISHED | crc(bytes, crc);
            RawMemory.putLongVolatile(stateAddress(row), state); // last: who sees it sees the row
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Copies a row, and tells whether it is what was published with this state. */
    public boolean copyIntact(long row, long state, byte[] target, CRC32 crc) {
        try {
            RawMemory.copy(rowAddress(row), target, RawMemory.arrayOffset(byte[].class), header.rowByteSize());
        } finally {
            Reference.reachabilityFence(this);
        }
        return state == (RowsDescriptor.PUBLISHED | crc(target, crc));
    }

    private long crc(byte[] bytes, CRC32 crc) {
        crc.reset();
        crc.update(bytes, 0, (int) header.rowByteSize());
        return crc.getValue();
    }

    private long stateAddress(long row) {
        return data + header.statesStart() + row * Long.BYTES;
    }

    private long rowAddress(long row) {
        return data + header.dataStart() + row * header.rowByteSize();
    }

    private void requireOpen() {
        if (!open) {
            throw new IllegalStateException("computed rows are closed: rows=" + header.region());
        }
    }

    /** Has a region removed while nobody can open it; false where a process has it open, this one included. */
    public static boolean removeUnused(Path store, Path file, Runnable removal) {
        int locks = openFile(new StoreLayout(store).regions().resolve(RegionDescriptor.LOCKS_FILE));
        if (locks == NONE) {
            throw Failure.of(ErrorCode.NO_DAEMON, "the store has no regions")
                    .with("store", store)
                    .remedy(Remedy.START_DAEMON);
        }
        try {
            long id = RegionDescriptor.idOf(String.valueOf(file.getFileName()));
            boolean isFree = InterProcess.system().tryLockRange(locks, id + RegionDescriptor.ATTACHED_LOCK, 1, true);
            if (isFree) {
                removal.run();
            }
            return isFree;
        } finally {
            Posix.system().close(locks); // and its lock with it
        }
    }

    /** Closes it: claims of threads that still compute are free, and what they write harms nobody. Idempotent. */
    @Override
    public void close() {
        synchronized (claimed) {
            if (!open) {
                return;
            }
            open = false;
        }
        try {
            memory.close(); // first: nobody writes what another has claimed since
        } finally {
            posix.close(descriptor);
            posix.close(locks);
        }
    }
}
