package dev.larder.loader.internal.ring;

import dev.larder.internal.posix.MemoryGroup;
import dev.larder.internal.process.FlightRecording;
import dev.larder.loader.internal.field.DiskRows;
import dev.larder.loader.internal.field.FieldReader;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.slot.HostSlot;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Requests the rows of the next batches from disks before gather threads read them, on a thread of its own, because a request waits if the
 * disk's queue is full. Sleeps while no field is read from a disk.
 *
 * <p>The window is the samples that were requested and not gathered yet. It grows while gather threads wait for the disk: a disk answers
 * more requests together, but rows that are requested too early take memory, and may be dropped before they are gathered.
 */
final class ReadAhead implements Runnable {
    static final int LEAST_SAMPLES = 64;
    static final int MOST_SAMPLES = 512;
    private static final long MOST_BYTES = 64 << 20;

    /** The divisor for the free memory of a control group that the window may take. */
    private static final int GROUP_SHARE = 8;

    /** The time between looks at the memory of the control group. */
    private static final long MEMORY_NANOS = Duration.ofSeconds(2).toNanos();

    /** The most samples that are requested together. */
    private static final int MOST_TOGETHER = 64;

    /** The most batches in the window: a power of two. */
    private static final int MOST_BATCHES = 1024;

    /** The longest sleep during an epoch: a gather thread may have seen this thread awake just before it slept. */
    private static final long LONGEST_SLEEP_NANOS = Duration.ofMillis(10).toNanos();

    private static final Path MACHINE = Path.of("/");

    private final Ring ring;
    private final String dataset;
    private final FieldReader[] fields;
    private final List<DiskRows> disks;
    private final Thread thread;
    private final HostSlot lookout;
    private final NextSample place = new NextSample();

    /** The number of samples that were requested before each batch of the window, by its number modulo the length. */
    private final long[] requestedBefore = new long[MOST_BATCHES];

    private final AtomicInteger gathered = new AtomicInteger();
    private volatile int wakeAt = Integer.MAX_VALUE;
    private volatile boolean lookingUp;

    /** The plan of the next sample; null at first, and if its order failed. */
    private @Nullable Plan plan;

    private @Nullable Plan failed;
    private int next;
    private long requested;
    private int step = 1;
    private int window = LEAST_SAMPLES;
    private long waits;
    private long mostBytes = MOST_BYTES;
    private long nextLookNanos = System.nanoTime();

    private ReadAhead(LoaderSource source, Ring ring) {
        this.ring = ring;
        this.dataset = source.data().name();
        this.fields = source.fields().stream()
                .filter(field -> !field.disks().isEmpty())
                .toArray(FieldReader[]::new);
        this.disks = source.disks();
        this.lookout = HostSlot.withoutMemory();
        this.thread = new Thread(this, "larder-read-ahead");
        thread.setDaemon(true);
    }

    /** Starts the thread; returns null if all rows are in memory. */
    static @Nullable ReadAhead start(LoaderSource source, Ring ring) {
        if (source.disks().isEmpty()) {
            return null;
        }
        ReadAhead ahead = new ReadAhead(source, ring);
        ahead.thread.start();
        return ahead;
    }

    Thread thread() {
        return thread;
    }

    /** Wakes the thread after a plan has begun, or rows are read from a disk again. */
    void wake() {
        LockSupport.unpark(thread);
    }

    /** Ends the thread after the ring was closed. */
    void end() {
        lookout.ended = true;
        wake();
    }

    /** Returns whether it uses the order of an epoch. */
    boolean isLookingUp() {
        return lookingUp;
    }

    /** Counts samples that were gathered, and wakes the thread if it waits for them. */
    void gathered(int count) {
        int limit = wakeAt;
        if (limit != Integer.MAX_VALUE && gathered.addAndGet(count) >= limit) {
            wakeAt = Integer.MAX_VALUE;
            wake();
        }
    }

    @Override
    public void run() {
        while (!ring.isClosed()) {
            if (reads() && requestSome()) {
                continue;
            }
            if (!reads() || place.plan == null) {
                plan = null;
                LockSupport.park(this);
            } else {
                gathered.set(0);
                wakeAt = step;
                LockSupport.parkNanos(this, LONGEST_SLEEP_NANOS);
                wakeAt = Integer.MAX_VALUE;
            }
        }
    }

    private boolean reads() {
        for (FieldReader field : fields) {
            if (field.reads()) {
                return true;
            }
        }
        return false;
    }

    /** Requests the next samples; returns false if the window is full, or there are none. */
    private boolean requestSome() {
        ring.locate(place);
        Plan current = place.plan;
        if (current == null || current == failed) {
            return false;
        }
        try {
            boolean isBehind = current != plan
                    || place.batch > lookout.number
                    || (place.batch == lookout.number && place.sample > next);
            if (isBehind && !moveTo(current, place.batch, place.sample)) {
                return false;
            }
            long done = requestedBefore[(int) (place.batch % MOST_BATCHES)] + place.sample;
            long samples = samples();
            step = (int) Math.max(1, Math.min(MOST_TOGETHER, samples / 4));
            boolean hasRoom = samples - (requested - done) >= step;
            if (!hasRoom || (next == lookout.size && !nextBatch(current))) {
                return false;
            }
            request(Math.min(step, lookout.size - next));
            return true;
        } catch (Throwable e) { // the epoch has ended, or its order fails again when the batch is planned
            failed = current;
            return false;
        }
    }

    private boolean moveTo(Plan current, long batch, int sample) {
        requested = sample;
        plan = open(current, batch, 0, sample) ? current : null;
        return plan != null;
    }

    private boolean nextBatch(Plan current) {
        boolean hasRoom = lookout.number + 1 - place.batch < MOST_BATCHES;
        return hasRoom && open(current, lookout.number + 1, requested, 0);
    }

    /** Finds the samples of a batch. */
    private boolean open(Plan current, long batch, long before, int sample) {
        if (batch >= current.batches()) {
            return false;
        }
        lookout.epoch = current.epoch();
        lookout.number = batch;
        lookingUp = true;
        try {
            current.fill(lookout);
        } finally {
            lookingUp = false;
        }
        requestedBefore[(int) (batch % MOST_BATCHES)] = before;
        next = Math.min(sample, lookout.size);
        return true;
    }

    private void request(int count) {
        ReadAheadEvent event = FlightRecording.isOn() ? ReadAheadEvent.of(dataset, window) : null;
        long sampleBytes = 0;
        for (FieldReader field : fields) {
            if (field.reads()) {
                field.readAhead(lookout, next, next + count);
                sampleBytes += field.pageBytes();
            }
        }
        if (event != null) {
            event.ended(lookout.epoch, lookout.number, count, count * sampleBytes);
        }
        next += count;
        requested += count;
        long now = 0;
        for (DiskRows disk : disks) {
            now += disk.waits();
        }
        if (now > waits) {
            window = Math.min(MOST_SAMPLES, 2 * window);
            waits = now;
        }
    }

    /** Returns the samples of the window: none if one sample takes more memory than the window may. */
    private long samples() {
        if (System.nanoTime() - nextLookNanos >= 0) {
            nextLookNanos = System.nanoTime() + MEMORY_NANOS;
            mostBytes =
                    Math.min(MOST_BYTES, MemoryGroup.leastFreeBytes(MACHINE, 0).orElse(Long.MAX_VALUE) / GROUP_SHARE);
        }
        long bytes = 1;
        for (FieldReader field : fields) {
            bytes += field.reads() ? field.pageBytes() : 0;
        }
        return Math.min(window, mostBytes / bytes);
    }
}
