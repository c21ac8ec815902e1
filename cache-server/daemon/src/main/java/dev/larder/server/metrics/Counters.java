package dev.larder.server.metrics;

import dev.larder.internal.layout.CountersDescriptor;
import dev.larder.server.store.space.Space;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import org.agrona.IoUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;

/**
 * The daemon's counters, in a file that other processes read with {@link CountersDescriptor#read} at any time. Thread-safe.
 *
 * <p>Cannot be closed: the mapping is freed when it is unreachable, because a count after {@code munmap} would kill the daemon.
 */
public final class Counters {
    private static final Set<PosixFilePermission> READABLE_BY_GROUP = PosixFilePermissions.fromString("rw-r-----");

    private final long pid;
    private final long startEpochMs;
    private volatile Map<Counter, AtomicCounter> counters;

    private Counters(UnsafeBuffer file, long pid, long startEpochMs) {
        this.pid = pid;
        this.startEpochMs = startEpochMs;
        this.counters = allocate(file);
    }

    private static Map<Counter, AtomicCounter> allocate(UnsafeBuffer file) {
        CountersManager manager =
                new CountersManager(CountersDescriptor.metadata(file), CountersDescriptor.values(file));
        Map<Counter, AtomicCounter> allocated = new EnumMap<>(Counter.class);
        for (Counter counter : Counter.values()) {
            allocated.put(counter, manager.newCounter(counter.label()));
        }
        return allocated;
    }

    /** Creates the file, with all counters at zero. Only for the owner of the store's lock. */
    public static Counters create(Path file, long pid, long startEpochMs) {
        try {
            Files.deleteIfExists(file);
            UnsafeBuffer buffer = new UnsafeBuffer(mapNewFile(file));
            CountersDescriptor.writeHeader(buffer, pid, startEpochMs);
            Counters counters = new Counters(buffer, pid, startEpochMs);
            CountersDescriptor.formatVersionRelease(buffer);
            return counters;
        } catch (IOException failure) {
            throw Space.failed("cannot create counters", file, failure);
        }
    }

    /** Restores the file with the present values if another program removed it. Concurrent counts may be lost. */
    public synchronized void restoreIfRemoved(Path file) {
        if (Files.exists(file)) {
            return;
        }
        try {
            UnsafeBuffer buffer = new UnsafeBuffer(mapNewFile(file));
            CountersDescriptor.writeHeader(buffer, pid, startEpochMs);
            Map<Counter, AtomicCounter> again = allocate(buffer);
            again.forEach((counter, place) -> place.set(value(counter)));
            CountersDescriptor.formatVersionRelease(buffer);
            counters = again;
        } catch (IOException failure) {
            throw Space.failed("cannot create the counters again", file, failure);
        }
    }

    /** Returns counters in a private heap array, for parts that run without a store. */
    public static Counters unshared() {
        return new Counters(new UnsafeBuffer(new byte[CountersDescriptor.FILE_LENGTH]), 0, 0);
    }

    /** Adds one. */
    public void increment(Counter counter) {
        add(counter, 1);
    }

    /** Adds a number, which may be negative. */
    public void add(Counter counter, long delta) {
        of(counter).getAndAdd(delta);
    }

    /** Sets a value. */
    public void set(Counter counter, long value) {
        of(counter).set(value);
    }

    /** Returns the present value. */
    public long value(Counter counter) {
        return of(counter).get();
    }

    private AtomicCounter of(Counter counter) {
        AtomicCounter found = counters.get(counter);
        if (found == null) {
            throw new IllegalArgumentException(
                    "not allocated: " + counter + " of " + Arrays.toString(Counter.values()));
        }
        return found;
    }

    /** Writes zeros first: a sparse file on a full tmpfs would kill the daemon when it counts. */
    private static MappedByteBuffer mapNewFile(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(READABLE_BY_GROUP))) {
            Files.setPosixFilePermissions(file, READABLE_BY_GROUP); // independent of the umask
            IoUtil.fill(channel, 0, CountersDescriptor.FILE_LENGTH, (byte) 0);
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, CountersDescriptor.FILE_LENGTH);
        }
    }
}
