package dev.larder.distributed.region;

import dev.larder.client.Larder;
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
 * The regions of a store as this process uses them. However many it opens, it holds one descriptor for their locks, and none for
 * their memory. Owned by whoever made it; regions that are open when it closes are closed by that. Thread-safe.
 */
public final class Regions implements AutoCloseable {
    private static final Duration FIRST_PAUSE = Duration.ofNanos(20_000);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(5);

    /** Between steps the JVM can stop the thread. */
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

    /** Uses the regions of a store that this process is connected to; fails with NO_DAEMON where no daemon has made room for any. */
    public static Regions of(Larder larder) {
        return new Regions(new DaemonRegions(new StoreLayout(larder.store())));
    }

    /**
     * Opens a region, and makes it first where there is none: of all processes that ask at once one lays it out, the others wait for
     * that; where that one dies, another lays it out from zeros.
     *
     * @param layOut writes what a new region begins with, into zeros
     * @throws dev.larder.error.LarderException REFUSED where one of another kind or size has the name; NO_SPACE; DEADLINE
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

    /** Opens a region of this kind that somebody has made, or is making; waits for it up to {@code timeout}. */
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

    /** Null where it was removed meanwhile. */
    private @Nullable Region tryOpen(RegionRow row, @Nullable Consumer<SharedMemory> layOut, Wait wait) {
        while (!locks.tryAttach(row.id())) { // who removes it holds that lock for a moment
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

    /** Remembers a region, to close it with this, which may have happened just now. */
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
            if (found < byteSize) { // touching what is not there would end this process
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
     * Has a region laid out, once. The caller holds the lock for that, so whoever began it and is not ready has died.
     *
     * <p>The state is 0 (new: all zeros), MAKING (begun, so anything may stand there: zeroed first) or READY (written last: whoever
     * sees it sees everything that was laid out).
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

    /** Returns a text that differs for the stores of different machines, and for different stores of one. */
    public String identity() {
        try {
            Path locksFile = source.locks();
            return Files.readString(BOOT_ID).strip() + ":" + Files.getAttribute(locksFile, "unix:dev") + ":"
                    + Files.getAttribute(locksFile, "unix:ino");
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot tell which store this is")
                    .with("reason", e)
                    .cause(e)
                    .remedy("mount /proc");
        }
    }

    /** Describes every region of the store. */
    public List<RegionRow> list() {
        return source.list();
    }

    /** Takes the name of a region away: those who have it go on, nobody else can open it. */
    public void remove(String name) {
        source.remove(name, 0);
    }

    /** Takes the name of this very region away, where it still has it: another that has the name by now keeps it. Idempotent. */
    public void remove(Region region) {
        try {
            source.remove(region.name(), region.id());
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND) {
                throw e;
            }
        }
    }

    /** Closes what is open, and ends the locks of this process: others see its parts as free. Idempotent. */
    @Override
    public void close() {
        open = false;
        try {
            List.copyOf(opened)
                    .forEach(Region::close); // memory before locks: nobody writes what another has taken over
        } finally {
            locks.close();
        }
    }

    /** A wait for what other processes do, with an end. */
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
