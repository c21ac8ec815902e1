package dev.larder.loader.internal.ring;

import dev.larder.error.LarderException;
import dev.larder.internal.error.Logs;
import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.WorkPart;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.process.TaskStat;
import dev.larder.loader.internal.device.SlotProvider;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.field.SourceData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.agrona.concurrent.AtomicBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The stopwatches of a loader's threads, in a file of the store that other processes read while the loader is open: see {@link
 * LoaderDescriptor}. If the store has no room for it, or this user may not write there, they are in this process's own memory, because
 * counters are no reason to fail. Thread-safe.
 */
public final class LoaderCounters implements AutoCloseable {
    /** The rows besides those of gather threads: the consumer, its help, and the consumer of batches on devices. */
    private static final int OTHER_ROWS = 3;

    private static final int ATTEMPTS = 20;
    private static final int GROUP_BIT = 02000;
    private static final int NONE = -1;

    private final List<Stopwatch> stopwatches = new ArrayList<>();
    private final String dataset;
    private int rows;
    private AtomicBuffer words;
    private @Nullable MappedMemory memory;
    private @Nullable Path file;
    private int lock = NONE;
    private long @Nullable [] last;

    private LoaderCounters(String dataset, int rows) {
        this.dataset = dataset;
        this.words = new UnsafeBuffer(new byte[LoaderDescriptor.fileLength(rows)]);
    }

    /** Creates the counters of a loader. */
    static LoaderCounters open(LoaderSource source, PipelineSettings settings, int threads, int slots) {
        SourceData data = source.data();
        int rows = threads + OTHER_ROWS;
        LoaderCounters counters = new LoaderCounters(data.name(), rows);
        SlotProvider shared = settings.slots();
        String feed = shared == null ? "" : shared.name();
        try {
            Path version = data.datasets().get(0).stored().folder();
            counters.create(new StoreLayout(StoreLayout.storeOf(version)).loaders(), rows);
            LoaderDescriptor.write(counters.words, facts(source, feed, settings, threads, slots), rows);
        } catch (IOException | RuntimeException none) {
            counters.release();
            counters.words = new UnsafeBuffer(new byte[LoaderDescriptor.fileLength(rows)]);
        }
        return counters;
    }

    private static LoaderDescriptor.Facts facts(
            LoaderSource source, String feed, PipelineSettings settings, int threads, int slots) {
        return new LoaderDescriptor.Facts(
                ProcessHandle.current().pid(),
                TaskStat.ofThisProcess().map(TaskStat::startTicks).orElse(0L),
                System.nanoTime(),
                feed.isEmpty() ? LoaderDescriptor.PROGRAM_JAVA : LoaderDescriptor.PROGRAM_FEED,
                threads,
                slots,
                settings.batchSize(),
                Runtime.getRuntime().availableProcessors(),
                source.sampleByteSize(),
                source.data().name(),
                feed);
    }

    /** Creates a file and takes its lock. The daemon removes a file without a lock, and others test locks: then another name is tried. */
    private void create(Path folder, int rows) throws IOException {
        Posix posix = Posix.system();
        boolean isShared = ((int) Files.getAttribute(folder, "unix:mode", LinkOption.NOFOLLOW_LINKS) & GROUP_BIT) != 0;
        for (int attempt = 0; attempt < ATTEMPTS && lock == NONE; attempt++) {
            String number = Integer.toHexString(ThreadLocalRandom.current().nextInt());
            Path made = folder.resolve(ProcessHandle.current().pid() + "-" + number);
            int descriptor = posix.openOrCreate(made, 0600);
            // first, because the daemon removes files that it cannot open
            posix.changeMode(descriptor, isShared ? 0640 : 0600);
            if (posix.tryLockExclusive(descriptor) && posix.status(descriptor).isLinked()) {
                lock = descriptor;
                file = made;
            } else {
                posix.close(descriptor);
                Files.deleteIfExists(made);
            }
        }
        int length = LoaderDescriptor.fileLength(rows);
        BulkIo.system().resize(lock, length);
        posix.reserve(lock, 0, length);
        MappedMemory mapped = MappedMemory.writable(posix, lock, length);
        memory = mapped;
        words = new UnsafeBuffer(mapped.buffer(0, length));
    }

    /** Returns a stopwatch for another thread, in its own row. */
    synchronized Stopwatch newStopwatch(int role) {
        Stopwatch stopwatch = new Stopwatch(words, rows++, role, dataset);
        stopwatches.add(stopwatch);
        return stopwatch;
    }

    /**
     * Returns the stopwatch of the thread that takes batches from devices, which does not count for {@link #nanos}; that of {@code host} is
     * now of the thread that uploads.
     */
    public synchronized Stopwatch consumerOfDevices(Stopwatch host) {
        host.uploads();
        return new Stopwatch(words, rows++, LoaderDescriptor.ROLE_CONSUMER, dataset);
    }

    /** Returns the total time of a part over all threads on the host, also after the end. */
    public synchronized long nanos(WorkPart part) {
        long[] totals = last;
        return totals == null
                ? stopwatches.stream()
                        .mapToLong(stopwatch -> stopwatch.nanos(part))
                        .sum()
                : totals[part.index()];
    }

    /** Removes the file. Threads that still run write to memory that no other process sees. Idempotent. */
    @Override
    public synchronized void close() {
        if (last == null) {
            long[] totals = new long[WorkPart.COUNT];
            for (WorkPart part : WorkPart.values()) {
                totals[part.index()] = nanos(part);
            }
            last = totals;
            release();
        }
    }

    private void release() {
        try {
            if (file != null) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | LarderException gone) {
            Logs.of(LoaderCounters.class).debug("the counters of a loader are left to the daemon: {}", gone.toString());
        } finally {
            file = null;
            if (memory != null) {
                memory.close();
                memory = null;
            }
            if (lock != NONE) {
                Posix.system().close(lock);
                lock = NONE;
            }
        }
    }
}
