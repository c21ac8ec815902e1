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
 * A region of computed rows that this process has open; {@link RowsDescriptor} specifies its contents. While it is open, the daemon does
 * not evict it. Opens an existing region without the daemon. Thread-safe.
 */
public final class RowsRegion implements AutoCloseable {
    /*
     * The locks that processes share, and why a region survives their death.
     *
     * All locks are open-file-description locks. The kernel releases them when the last copy of the descriptor is closed, even after
     * kill -9, so no process has to clean up for another. Each object here has its own descriptors; a lock never waits.
     *
     *   attached  shared, in regions/locks      held while the region is open; the daemon takes it exclusively to remove the region
     *   init      exclusive, in regions/locks   held by the process that writes the header
     *   claim r   exclusive, byte r of the file held by the process that computes row r
     *
     * A region goes through these states:
     *
     *   reserved     the daemon has allocated all pages and written the magic last. Before that, a process must not map the file:
     *                touching a page that a full store cannot allocate raises SIGBUS.
     *   initialized  a process has written the header under the init lock, then the state READY. A process that dies before READY
     *                leaves zeros and parts of the same header; the next holder of the lock writes the same bytes again.
     *   removed      the daemon has unlinked the file under the exclusive attached lock. A process that gets its shared lock later
     *                sees a file without a name, and starts again.
     *
     * A row goes from empty to published, once:
     *
     *   1. The process takes the claim and reads the state again: another process may have published the row in between.
     *   2. It writes the bytes, then the state, which contains their checksum, in one ordered store.
     *   3. It releases the claim.
     *
     *   death during 1 or 2   the state is still 0; the claim is free, and the next process computes the whole row again
     *   death after 2         the row is published
     *   a stopped process     keeps its claim, so other processes wait for a limited time and then compute the row for themselves
     *
     * Only the holder of a claim writes its row and state. A closed region must not write any more, because its claims end with its
     * descriptor: close() replaces the mapping before it closes the descriptor. The kernel does not distinguish threads that use one
     * descriptor, so this class has its own set of claimed rows.
     */

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

    /** Opens the region of these rows. If there is none, the daemon creates it first. */
    public static RowsRegion openOrCreate(Path store, Header expected, Duration timeout) {
        StoreLayout layout = new StoreLayout(store);
        if (Files.exists(layout.regions())
                && !Files.isWritable(
                        layout.regions())) { // the daemon would create a region that this process cannot open
            throw notOurs(layout.regions(), null);
        }
        Deadline deadline = Deadline.after(timeout);
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
        while (true) {
            Path file = find(layout, expected.region());
            if (file == null) {
                file = Path.of(ControlClient.at(store)
                        .createRegion(expected.region(), RowsDescriptor.KIND, expected.byteSize())
                        .path());
            }
            RowsRegion region = tryOpen(layout, file, expected);
            if (region != null) {
                return region;
            }
            if (deadline.isOver() || !backoff.pause(deadline)) {
                throw Failure.of(
                                Thread.currentThread().isInterrupted() ? ErrorCode.INTERRUPTED : ErrorCode.DEADLINE,
                                "cannot open computed rows in time")
                        .with("rows", expected.region())
                        .with("file", file)
                        .remedy(
                                "the daemon or process that creates them may be stopped or dead: see larder status and larder regions");
            }
        }
    }

    /** Returns the file of a region, or null if there is none. */
    private static @Nullable Path find(StoreLayout layout, String region) {
        return files(layout.root()).stream()
                .filter(file -> region.equals(RegionDescriptor.nameOf(String.valueOf(file.getFileName()))))
                .findFirst()
                .orElse(null);
    }

    /** Returns the files of all regions of a store, sorted, without opening them. */
    public static List<Path> files(Path store) {
        try (Stream<Path> files = Files.list(new StoreLayout(store).regions())) {
            return files.filter(file -> RegionDescriptor.nameOf(String.valueOf(file.getFileName())) != null)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Opens an existing region. Returns null if it is being removed or has no header yet. */
    public static @Nullable RowsRegion tryOpen(Path store, Path file) {
        return tryOpen(new StoreLayout(store), file, null);
    }

    /**
     * Opens a region, and writes its header if it has none. Returns null if it is being removed or another process is writing
     * the header.
     */
    private static @Nullable RowsRegion tryOpen(StoreLayout layout, Path file, @Nullable Header expected) {
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
                    && Posix.system()
                            .status(descriptor)
                            .isLinked() // otherwise it was removed before this process got the lock
                    && isReserved(file, descriptor)) {
                region = map(file, locks, descriptor, expected);
            }
            return region;
        } finally {
            if (region == null) {
                Stream.of(descriptor, locks).filter(one -> one != NONE).forEach(Posix.system()::close);
            }
        }
    }

    /**
     * Returns whether the daemon has reserved the whole region: it writes the magic last. Reads from the file, because mapping
     * a hole of a full store can kill the process.
     */
    private static boolean isReserved(Path file, int descriptor) {
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
            throw damaged(file, "it is not a region of computed rows of this release");
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
        Failure failure = Failure.of(ErrorCode.REFUSED, "only processes of the store's owner can use computed rows")
                .with("file", file);
        if (cause != null) {
            failure.cause(cause);
        }
        return failure.remedy("ask the owner to copy them into a dataset: larder freeze NAME");
    }

    private static @Nullable RowsRegion map(Path file, int locks, int descriptor, @Nullable Header expected) {
        long length = Posix.system().status(descriptor).byteSize();
        requireRoom(file, length, RowsDescriptor.TEXT_OFFSET);
        MappedMemory memory = MappedMemory.writable(Posix.system(), descriptor, length);
        boolean isOpened = false;
        try {
            if (!isReady(file, memory, locks, expected)) {
                return null;
            }
            Header found = read(file, memory);
            if (expected != null && !found.isFor(expected)) {
                throw damaged(file, "its rows have another key");
            }
            isOpened = true;
            return new RowsRegion(file, found, memory, locks, descriptor);
        } finally {
            if (!isOpened) {
                memory.close();
            }
        }
    }

    /** Refuses a file that is too short. Accessing memory after its end would kill this process. */
    private static void requireRoom(Path file, long length, long dataBytes) {
        if (length < RegionDescriptor.DATA_OFFSET + dataBytes) {
            throw damaged(file, "it is shorter than its rows");
        }
    }

    /**
     * Returns whether the header is complete. Writes it if {@code expected} is set and no process has; returns false while
     * another process writes it.
     */
    private static boolean isReady(Path file, MappedMemory memory, int locks, @Nullable Header expected) {
        long state = memory.address() + RegionDescriptor.STATE_OFFSET;
        long initLock = RegionDescriptor.idOf(String.valueOf(file.getFileName())) + RegionDescriptor.INIT_LOCK;
        if (RawMemory.getIntVolatile(state) == RegionDescriptor.STATE_READY) {
            return true;
        }
        if (expected == null || !InterProcess.system().tryLockRange(locks, initLock, 1, true)) {
            return false;
        }
        try {
            if (RawMemory.getIntVolatile(state) != RegionDescriptor.STATE_READY) {
                requireRoom(file, memory.byteSize(), expected.byteSize());
                write(memory, expected); // a process that died here wrote the same bytes and no states, which are all 0
                RawMemory.putIntVolatile(state, RegionDescriptor.STATE_READY);
            }
            return true;
        } finally {
            InterProcess.system().unlockRange(locks, initLock, 1);
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

    /** Reads the header, and checks every number against the others. */
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
                && matchesShape(header);
        if (!fits) {
            throw damaged(file, "its header is damaged");
        }
        return header;
    }

    /** Returns whether the length of a row matches its type and shape. Accepts types that only Python has. */
    private static boolean matchesShape(Header header) {
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

    /** Returns the header of the region. */
    public Header header() {
        return header;
    }

    /** Returns the file of the region. */
    public Path file() {
        return file;
    }

    /** Returns the memory of the region. Its data begins at {@link RegionDescriptor#DATA_OFFSET}. It closes with this. */
    public MappedMemory memory() {
        return memory;
    }

    /** Reads the state of a row. Earlier writes of its publisher are visible afterwards. The caller checks the row number. */
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

    /** Claims a row until {@link #release} or the end of this process. Returns false if another thread or process has the claim. */
    public boolean tryClaim(long row) {
        synchronized (claimed) { // the kernel does not distinguish threads that use one descriptor
            requireOpen();
            boolean isTaken = !claimed.contains(row) && calls.tryLockRange(descriptor, row, 1, true);
            if (isTaken) {
                claimed.add(row);
            }
            return isTaken;
        }
    }

    /** Releases a claim. */
    public void release(long row) {
        synchronized (claimed) {
            if (claimed.remove(row) && open) {
                calls.unlockRange(descriptor, row, 1);
            }
        }
    }

    /** Publishes an empty row. This thread must have its claim. */
    public void publish(long row, byte[] bytes, CRC32 crc) {
        try {
            RawMemory.copy(bytes, RawMemory.arrayOffset(byte[].class), null, rowAddress(row), header.rowByteSize());
            long state = RowsDescriptor.PUBLISHED | crc(bytes, crc);
            RawMemory.putLongVolatile(stateAddress(row), state); // last: a reader of the state sees the whole row
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Copies a row, and returns whether its checksum matches this state. */
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

    /** Runs {@code removal} while no process can open a region. Returns false if a process, including this one, has it open. */
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
            Posix.system().close(locks); // this releases the lock as well
        }
    }

    /** Closes the region. Running computations lose their claims, and their writes have no effect. Idempotent. */
    @Override
    public void close() {
        synchronized (claimed) {
            if (!open) {
                return;
            }
            open = false;
        }
        try {
            memory.close(); // first: after the claims end, this process must not write rows that others claim
        } finally {
            posix.close(descriptor);
            posix.close(locks);
        }
    }
}
