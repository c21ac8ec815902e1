package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.posix.InterProcess;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.RegionRequest;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.space.Space;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The regions of a store. This class creates them, finds them by name and removes them; clients write them, see {@link RegionDescriptor}.
 * Their contents are untrusted: name and id of a region come from its file name, its length from the file. Thread-safe.
 */
public final class RegionFiles implements AutoCloseable {
    /*
     * The life of a region
     *
     *   in creation   its file has its full length but not its header; only the thread of create() uses it
     *   named         in "named": clients find it by name. It has a header, and all its space is reserved
     *   unnamed       in "unnamed": its file is gone, but processes still have it attached
     *
     * A process attaches a region by a shared lock on a byte of regions/locks, before it opens the file. Then it checks that the file
     * still has a name. The kernel releases the lock when the process ends. The daemon removes a region only while it holds that byte
     * exclusively, so a process attaches either before, which prevents the removal, or after it, and finds no file.
     *
     * Most regions are removed when no process has them attached. Computed rows are persistent: they stay until their space is needed
     * or a client removes them, because computing them again costs time. The daemon never reads their data. Clients claim rows, compute
     * them and mark them as done; see dev.larder.internal.rows.
     *
     * If the daemon dies, attached processes continue. The next daemon adopts each file with a valid header. The header is written after the
     * space has been reserved, so a file without one was in creation, and is removed. After a crash of the machine, all regions are removed.
     */
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int NONE = -1;
    private static final int MODE = 0600;

    /** A new region stays for this time even if no process has attached it. */
    private static final long GRACE_NS = TimeUnit.SECONDS.toNanos(10);

    private final Posix posix;
    private final InterProcess calls = InterProcess.system();
    private final StoreLayout layout;
    private final LongSupplier clockNs;
    private final Map<String, Held> named = new TreeMap<>();

    /** The last time at which a process was seen attached to a persistent region, by id. */
    private final Map<Long, Instant> lastUses = new HashMap<>();

    /** Regions without a name that a process still has attached. */
    private final List<Held> unnamed = new ArrayList<>();

    /** Regions that are being created: reserving many bytes takes a while. */
    private final Map<String, CompletableFuture<RegionRow>> making = new HashMap<>();

    private int locks = NONE;
    private volatile long byteSize;

    /**
     * A region.
     *
     * @param sinceNs when it was created or found
     */
    private record Held(RegionRow row, long sinceNs) {
        long storedBytes() {
            return RegionFiles.storedBytes(row.bytes());
        }

        boolean isPersistent() {
            return RegionDescriptor.outlivesProcesses(row.kind());
        }
    }

    /**
     * A region that stays while no process has it attached.
     *
     * @param lastUse when a process was last seen attached
     * @param isEvictable whether no process has it attached or is about to
     */
    public record Persistent(RegionRow row, Instant lastUse, boolean isEvictable) {
        /** Returns the space it occupies. */
        public long storedBytes() {
            return RegionFiles.storedBytes(row.bytes());
        }
    }

    RegionFiles(Posix posix, StoreLayout layout, LongSupplier clockNs) {
        this.posix = posix;
        this.layout = layout;
        this.clockNs = clockNs;
    }

    /** Creates the folder if it is missing; replaces another kind of file with its name. */
    static void makeFolder(StoreLayout layout) throws IOException {
        if (!Files.isDirectory(layout.regions(), LinkOption.NOFOLLOW_LINKS)) {
            new Removal().remove(layout.regions());
            Modes.makePrivateFolder(layout.regions());
        }
    }

    /** Returns the space that a region with this many bytes of data occupies. */
    public static long storedBytes(long dataBytes) {
        return Store.storedBytes(ByteSums.add(RegionDescriptor.DATA_OFFSET, dataBytes));
    }

    /** Returns the space of all regions with a name, and of those without one that a process had attached at the last {@link #sweep}. */
    long byteSize() {
        return byteSize;
    }

    /** Adopts the regions of an earlier daemon, on the first call and again if the lock file was replaced. */
    synchronized void open() throws IOException {
        if (locks != NONE && posix.status(locks).isLinked()) {
            return;
        }
        forgetAll(); // their names went with the folder; attached processes keep their mappings
        makeFolder(layout);
        locks = posix.openOrCreate(layout.regions().resolve(RegionDescriptor.LOCKS_FILE), MODE);
        try (Stream<Path> entries = Files.list(layout.regions())) {
            for (Path entry : (Iterable<Path>) entries.sorted()::iterator) {
                adopt(entry);
            }
        }
        measure();
    }

    private void adopt(Path file) throws IOException {
        String fileName = String.valueOf(file.getFileName());
        if (fileName.equals(RegionDescriptor.LOCKS_FILE)) {
            return;
        }
        String name = RegionDescriptor.nameOf(fileName);
        Optional<RegionRow> row = name == null ? Optional.empty() : read(file, name, RegionDescriptor.idOf(fileName));
        if (row.isEmpty() || named.putIfAbsent(row.get().name(), new Held(row.get(), clockNs.getAsLong())) != null) {
            new Removal().remove(file);
        }
    }

    /** Reads the description of a region from its file; empty if the file is no region. */
    private Optional<RegionRow> read(Path file, String name, long id) {
        int descriptor;
        try {
            descriptor = posix.openForReading(file);
        } catch (LarderException e) {
            return Optional.empty();
        }
        try {
            FileStatus status = posix.status(descriptor);
            ByteBuffer header = header();
            long read = status.isRegular() ? BulkIo.system().read(descriptor, 0, header, 0, header.capacity()) : 0;
            if (read < header.capacity() || header.getLong(RegionDescriptor.MAGIC_OFFSET) != RegionDescriptor.MAGIC) {
                return Optional.empty();
            }
            byte[] kind = new byte[RegionDescriptor.KIND_LENGTH];
            header.get(RegionDescriptor.KIND_OFFSET, kind);
            return Optional.of(new RegionRow(
                    name,
                    new String(kind, StandardCharsets.US_ASCII).replace("\0", ""),
                    id,
                    status.byteSize() - RegionDescriptor.DATA_OFFSET,
                    file.toString(),
                    header.getLong(RegionDescriptor.CREATOR_PID_OFFSET),
                    Instant.ofEpochMilli(header.getLong(RegionDescriptor.CREATED_OFFSET))));
        } finally {
            posix.close(descriptor);
        }
    }

    private static ByteBuffer header() {
        return ByteBuffer.allocateDirect(RegionDescriptor.DATA_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the region of this name, if there is one. */
    public synchronized Optional<RegionRow> find(String name) {
        return Optional.ofNullable(named.get(name)).map(Held::row);
    }

    /** Returns every region that has a name, sorted. */
    public synchronized List<RegionRow> list() {
        return named.values().stream().map(Held::row).toList();
    }

    /**
     * Creates a region of zeros, or returns the existing one with this name. Concurrent calls with the same name share one creation.
     *
     * @param creatorPid the client's process, shown to people
     * @param space reserves space until the region is created; throws if there is none
     * @return fails with NO_SPACE and leaves nothing behind if the file system is full all the same
     */
    public CompletableFuture<RegionRow> create(
            RegionRequest.Create request, long creatorPid, Supplier<Reservation> space) {
        CompletableFuture<RegionRow> turn = new CompletableFuture<>();
        synchronized (this) {
            if (locks == NONE) {
                throw Failure.of(ErrorCode.NO_DAEMON, "the daemon is stopping").remedy(Remedy.START_DAEMON);
            }
            Optional<RegionRow> there = find(request.name());
            if (there.isPresent()) {
                return CompletableFuture.completedFuture(there.get());
            }
            CompletableFuture<RegionRow> made = making.putIfAbsent(request.name(), turn);
            if (made != null) {
                return made;
            }
        }
        RegionRow row;
        try {
            try (Reservation reservation = space.get()) { // closed after the region counts as used
                row = publish(make(request, creatorPid, reservation));
            }
        } catch (RuntimeException | Error e) {
            endTurn(request.name());
            turn.completeExceptionally(e);
            return turn;
        }
        endTurn(request.name());
        turn.complete(row);
        return turn;
    }

    private synchronized void endTurn(String name) {
        making.remove(name);
    }

    private synchronized RegionRow publish(Held made) {
        if (locks == NONE) { // stopped meanwhile: the files are removed, or stay for the next daemon
            throw Failure.of(ErrorCode.NO_DAEMON, "the daemon is stopping").remedy(Remedy.START_DAEMON);
        }
        named.put(made.row().name(), made);
        measure();
        return made.row();
    }

    private Held make(RegionRequest.Create request, long creatorPid, Reservation reservation) {
        long id = RegionDescriptor.idFrom(RANDOM.nextLong());
        long bytes = RegionDescriptor.DATA_OFFSET + request.bytes();
        Path file = layout.regions().resolve(RegionDescriptor.fileName(request.name(), id));
        reservation.writesTo(file);
        Instant now = Instant.now();
        RegionRow row =
                new RegionRow(request.name(), request.kind(), id, request.bytes(), file.toString(), creatorPid, now);
        int descriptor = makeFile(file, bytes);
        boolean isWhole = false;
        try {
            writeHeader(descriptor, row);
            isWhole = true;
            return new Held(row, clockNs.getAsLong());
        } finally {
            posix.close(descriptor);
            if (!isWhole) {
                removeFile(file);
            }
        }
    }

    private int makeFile(Path file, long bytes) {
        int descriptor = posix.openOrCreate(file, MODE);
        try {
            BulkIo.system().resize(descriptor, bytes);
            HugePages.reserve(posix, descriptor, 0, bytes);
            return descriptor;
        } catch (RuntimeException | Error e) {
            posix.close(descriptor);
            removeFile(file);
            throw e;
        }
    }

    private static void writeHeader(int descriptor, RegionRow row) {
        ByteBuffer header = header();
        header.putLong(RegionDescriptor.MAGIC_OFFSET, RegionDescriptor.MAGIC);
        header.putInt(RegionDescriptor.FORMAT_VERSION_OFFSET, StoreLayout.FORMAT_VERSION);
        header.putLong(RegionDescriptor.ID_OFFSET, row.id());
        header.putLong(RegionDescriptor.BYTE_SIZE_OFFSET, row.bytes());
        header.put(RegionDescriptor.KIND_OFFSET, row.kind().getBytes(StandardCharsets.US_ASCII));
        header.putLong(RegionDescriptor.CREATOR_PID_OFFSET, row.creatorPid());
        header.putLong(RegionDescriptor.CREATED_OFFSET, row.created().toEpochMilli());
        BulkIo.system().write(descriptor, 0, header, 0, header.capacity());
    }

    /** Removes the name of a region if it has this id; 0 matches any. Returns false if there is none. */
    public synchronized boolean remove(String name, long id) {
        Held held = named.get(name);
        if (held == null || (id != 0 && held.row().id() != id)) {
            return false;
        }
        drop(held);
        unnamed.add(held);
        measure();
        return true;
    }

    /** Removes regions that no process has attached, except persistent ones, and forgets those that were removed by other programs. */
    synchronized void sweep() throws IOException {
        open();
        for (Held held : new ArrayList<>(named.values())) {
            if (!Files.exists(held.row().file(), LinkOption.NOFOLLOW_LINKS)) {
                drop(held);
                unnamed.add(held);
            } else if (held.isPersistent()) {
                var unused = isSeenAttached(held);
            } else if (!isYoung(held)) {
                var unused = dropIfUnused(held);
            }
        }
        unnamed.removeIf(held -> !isAttached(held));
        measure();
    }

    /** Returns the persistent regions. */
    public synchronized List<Persistent> persistent() {
        return named.values().stream()
                .filter(Held::isPersistent)
                .map(held -> {
                    boolean isFree = !isSeenAttached(held);
                    Instant lastUse = lastUses.get(held.row().id());
                    return lastUse == null
                            ? new Persistent(held.row(), held.row().created(), isFree && !isYoung(held))
                            : new Persistent(held.row(), lastUse, isFree); // its first user has attached it
                })
                .toList();
    }

    private boolean isSeenAttached(Held held) {
        boolean isAttached = isAttached(held);
        if (isAttached) {
            lastUses.put(held.row().id(), Instant.now());
        }
        return isAttached;
    }

    private boolean isYoung(Held held) {
        return clockNs.getAsLong() - held.sinceNs() < GRACE_NS;
    }

    /** Removes a persistent region that no process has attached. Returns false if one has, or if it is gone. */
    public synchronized boolean evict(Persistent region) {
        Held held = named.get(region.row().name());
        if (held == null || held.row().id() != region.row().id() || locks == NONE || !dropIfUnused(held)) {
            return false;
        }
        measure();
        return true;
    }

    /** Removes a region while no process can attach it. Returns false if one has it attached. */
    private boolean dropIfUnused(Held held) {
        long attached = held.row().id() + RegionDescriptor.ATTACHED_LOCK;
        if (!calls.tryLockRange(locks, attached, 1, true)) {
            return false;
        }
        try {
            drop(held);
        } finally {
            calls.unlockRange(locks, attached, 1);
        }
        return true;
    }

    /** Returns whether any process has a region attached. */
    public synchronized boolean isUsed() {
        return all().anyMatch(this::isAttached);
    }

    private Stream<Held> all() {
        return Stream.concat(named.values().stream(), unnamed.stream());
    }

    /** Returns the space of the regions that a process has attached. */
    synchronized long heldBytes() {
        return all().filter(this::isAttached).mapToLong(Held::storedBytes).sum();
    }

    /** Returns the length of the region files in a store that a process has attached; the store may belong to another daemon. */
    static long heldBytes(Posix posix, StoreLayout layout) throws IOException {
        if (!Files.isDirectory(layout.regions(), LinkOption.NOFOLLOW_LINKS)) {
            return 0;
        }
        int locks;
        try {
            locks = posix.openForReading(layout.regions().resolve(RegionDescriptor.LOCKS_FILE));
        } catch (LarderException e) {
            return 0;
        }
        try (Stream<Path> files = Files.list(layout.regions())) {
            return files.filter(file -> isAttached(locks, RegionDescriptor.idOf(String.valueOf(file.getFileName()))))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        } finally {
            posix.close(locks);
        }
    }

    private static boolean isAttached(int locks, long id) {
        return id != 0 && InterProcess.system().isRangeLocked(locks, id + RegionDescriptor.ATTACHED_LOCK, 1);
    }

    private boolean isAttached(Held held) {
        return locks != NONE && calls.isRangeLocked(locks, held.row().id() + RegionDescriptor.ATTACHED_LOCK, 1);
    }

    private void drop(Held held) {
        removeFile(held.row().file());
        named.remove(held.row().name());
        lastUses.remove(held.row().id());
    }

    private static void removeFile(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw Space.failed("cannot remove a region", file, e);
        }
    }

    private void measure() {
        byteSize = all().mapToLong(Held::storedBytes).sum();
    }

    private void forgetAll() {
        named.clear();
        unnamed.clear();
        if (locks != NONE) {
            posix.close(locks);
            locks = NONE;
        }
        measure();
    }

    /** Closes descriptors and forgets all regions; their files stay for the next daemon. Idempotent. */
    @Override
    public synchronized void close() {
        forgetAll();
    }
}
