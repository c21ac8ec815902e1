package dev.larder.distributed.region;

import dev.larder.client.Larder;
import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.RawMemory;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The regions of a store in this process. It holds one descriptor for all their locks, and none for their memory. Owned by the caller that
 * made it; closing it closes open regions. Thread-safe.
 */
public final class Regions implements AutoCloseable {
    private static final Duration FIRST_PAUSE = Duration.ofNanos(20_000);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(5);

    /** The JVM can stop the thread between steps. */
    private static final long ZEROING_STEP = 1 << 20;

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private final RegionSource source;
    private final RegionLocks locks;
    private final Set<Region> opened = ConcurrentHashMap.newKeySet();
    private volatile boolean open = true;

    Regions(RegionSource source) {
        this.source = source;
        this.locks = new RegionLocks(source.locks());
    }

    /** Uses the regions of a connected store; fails with NO_DAEMON if no daemon has prepared it for regions. */
    public static Regions of(Larder larder) {
        return new Regions(new DaemonRegions(new StoreLayout(larder.store())));
    }

    /**
     * Opens a region, and creates it if there is none. If several processes do so, one of them initializes it, and the others wait. If that
     * one dies, another initializes it again from zeros.
     *
     * @param layOut writes the initial content into zeros
     * @throws dev.larder.error.LarderException REFUSED if a region of another kind or size has the name; NO_SPACE; DEADLINE
     */
    public Region openOrCreate(RegionSpec spec, Consumer<SharedMemory> layOut, Duration timeout) {
        Wait wait = new Wait(spec.name(), timeout);
        while (true) {
            RegionRow row = source.create(spec, wait.left());
            if (!row.kind().equals(spec.kind()) || row.bytes() != spec.byteSize()) {
                throw Failure.of(ErrorCode.REFUSED, "a different region has this name")
                        .with("name", spec.name())
                        .with("kind", row.kind())
                        .with("wantedKind", spec.kind())
                        .with("bytes", row.bytes())
                        .with("wantedBytes", spec.byteSize())
                        .with("creatorPid", row.creatorPid())
                        .remedy("choose another name, or open it with its own settings");
            }
            Region region = tryOpen(row, layOut, wait);
            if (region != null) {
                return region;
            }
            wait.pause("the region was removed while it was opened");
        }
    }

    /** Opens an existing region of this kind, or waits for one up to {@code timeout}. */
    public Region open(String name, String kind, Duration timeout) {
        Wait wait = new Wait(name, timeout);
        while (true) {
            Optional<RegionRow> row = source.find(name, wait.left());
            if (row.isPresent()) {
                requireKind(row.get(), kind);
                Region region = tryOpen(row.get(), null, wait);
                if (region != null) {
                    return region;
                }
            }
            wait.pause("the region does not exist");
        }
    }

    private static void requireKind(RegionRow row, String kind) {
        if (!row.kind().equals(kind)) {
            throw Failure.of(ErrorCode.REFUSED, "the region is of another kind")
                    .with("name", row.name())
                    .with("kind", row.kind())
                    .with("wantedKind", kind)
                    .remedy("see larder regions");
        }
    }

    /** Opens a region; null if it was removed meanwhile. */
    private @Nullable Region tryOpen(RegionRow row, @Nullable Consumer<SharedMemory> layOut, Wait wait) {
        while (!locks.tryAttach(row.id())) { // a process that removes it holds the lock for a moment
            if (source.find(row.name(), wait.left())
                    .filter(found -> found.id() == row.id())
                    .isEmpty()) {
                return null;
            }
            wait.pause("the region is being removed");
        }
        @Nullable Region region = null;
        try {
            SharedMemory memory = map(row);
            region = memory == null ? null : new Region(row, memory, locks, opened);
        } finally {
            if (region == null) {
                locks.detach(row.id());
            }
        }
        return region == null ? null : readied(kept(region), layOut, wait);
    }

    /** Registers a region, so that it closes with this, which may have been closed just now. */
    private Region kept(Region region) {
        opened.add(region);
        if (!open) {
            region.close();
            throw new IllegalStateException("regions are closed");
        }
        return region;
    }

    private @Nullable SharedMemory map(RegionRow row) {
        int descriptor = source.open(row);
        if (descriptor < 0) {
            return null;
        }
        try {
            long byteSize = RegionDescriptor.DATA_OFFSET + row.bytes();
            long found = Posix.system().status(descriptor).byteSize();
            if (found < byteSize) { // an access beyond the end would kill this process
                throw Failure.of(ErrorCode.BAD_INPUT, "the region was truncated")
                        .with("name", row.name())
                        .with("bytes", found)
                        .with("expectedBytes", byteSize)
                        .remedy("remove it: larder regions --remove " + row.name());
            }
            SharedMemory memory = SharedMemory.map(descriptor, byteSize, RegionDescriptor.DATA_OFFSET);
            try {
                requireHeader(memory, row);
                return memory;
            } catch (RuntimeException | Error e) {
                memory.close();
                throw e;
            }
        } finally {
            Posix.system().close(descriptor);
        }
    }

    private static void requireHeader(SharedMemory memory, RegionRow row) {
        long header = memory.address(0, 0) - RegionDescriptor.DATA_OFFSET;
        int version = RawMemory.getInt(header + RegionDescriptor.FORMAT_VERSION_OFFSET);
        boolean isOurs = RawMemory.getLong(header + RegionDescriptor.MAGIC_OFFSET) == RegionDescriptor.MAGIC
                && version == StoreLayout.FORMAT_VERSION
                && RawMemory.getLong(header + RegionDescriptor.ID_OFFSET) == row.id();
        if (!isOurs) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the file is not the expected region")
                    .with("name", row.name())
                    .with("formatVersion", version)
                    .with("expectedVersion", StoreLayout.FORMAT_VERSION)
                    .remedy("use the same Larder release everywhere, or remove it: larder regions --remove "
                            + row.name());
        }
    }

    private Region readied(Region region, @Nullable Consumer<SharedMemory> layOut, Wait wait) {
        long state = region.memory().address(0, 0) - RegionDescriptor.DATA_OFFSET + RegionDescriptor.STATE_OFFSET;
        long making = region.id() + RegionDescriptor.INIT_LOCK;
        try {
            while (RawMemory.getIntVolatile(state) != RegionDescriptor.STATE_READY) {
                if (layOut != null && locks.tryTake(making)) {
                    try {
                        layOut(region.memory(), state, layOut);
                    } finally {
                        locks.giveUp(making);
                    }
                } else {
                    wait.pause("its creator has not initialized it");
                }
            }
            return region;
        } catch (RuntimeException | Error e) {
            region.close();
            throw e;
        }
    }

    /**
     * Initializes a region once. The caller holds the lock for that, so a process that began and did not finish is dead.
     *
     * <p>The state is 0 (new: all zeros), MAKING (begun, with any content: filled with zeros first) or READY (written last, after all
     * content).
     */
    private static void layOut(SharedMemory memory, long state, Consumer<SharedMemory> layOut) {
        int found = RawMemory.getIntVolatile(state);
        if (found == RegionDescriptor.STATE_READY) {
            return;
        }
        if (found == RegionDescriptor.STATE_MAKING) {
            for (long done = 0; done < memory.byteSize(); done += ZEROING_STEP) {
                long step = Math.min(ZEROING_STEP, memory.byteSize() - done);
                RawMemory.fill(memory.address(done, step), step, (byte) 0);
            }
        }
        RawMemory.putIntVolatile(state, RegionDescriptor.STATE_MAKING);
        layOut.accept(memory);
        RawMemory.putIntVolatile(state, RegionDescriptor.STATE_READY);
    }

    /** Returns a text that differs for different stores, also on different machines. */
    public String identity() {
        try {
            Path locksFile = source.locks();
            return Files.readString(BOOT_ID).strip() + ":" + Files.getAttribute(locksFile, "unix:dev") + ":"
                    + Files.getAttribute(locksFile, "unix:ino");
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot identify this store")
                    .with("reason", e)
                    .cause(e)
                    .remedy("mount /proc");
        }
    }

    /** Describes every region of the store. */
    public List<RegionRow> list() {
        return source.list();
    }

    /** Removes the name of a region: processes that have it open keep it, and no other can open it. */
    public void remove(String name) {
        source.remove(name, 0);
    }

    /** Removes the name of this region, unless another region has the name by now. Idempotent. */
    public void remove(Region region) {
        try {
            source.remove(region.name(), region.id());
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND) {
                throw e;
            }
        }
    }

    /** Closes the open regions, and releases the locks of this process. Idempotent. */
    @Override
    public void close() {
        open = false;
        try {
            List.copyOf(opened)
                    .forEach(Region::close); // memory before locks: no write after another process has a lock
        } finally {
            locks.close();
        }
    }

    /** A wait for other processes, with a deadline. */
    private static final class Wait {
        private final String name;
        private final Deadline deadline;
        private final Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);

        Wait(String name, Duration timeout) {
            this.name = name;
            this.deadline = Deadline.after(timeout);
        }

        Duration left() {
            return deadline.remaining();
        }

        void pause(String reason) {
            if (deadline.isOver()) {
                throw Failure.of(ErrorCode.DEADLINE, "cannot open a region in time")
                        .with("name", name)
                        .with("reason", reason)
                        .with("timeout", deadline.timeout())
                        .remedy("larder regions lists the regions and who made them");
            }
            if (!backoff.pause(deadline)) {
                throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while opening a region")
                        .with("name", name)
                        .exception();
            }
        }
    }
}
