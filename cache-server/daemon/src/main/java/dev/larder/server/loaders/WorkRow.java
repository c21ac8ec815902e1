package dev.larder.server.loaders;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.WorkPart;
import dev.larder.internal.process.TaskStat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The work of one thread of a loader up to a moment.
 *
 * @param role see {@link LoaderDescriptor}
 * @param thread its id; 0 if it is unknown
 * @param nanos the total time of each part, also of the present one
 * @param batches those that the consumer has taken
 * @param scheduling the kernel's view of the thread; null if it is not visible
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record WorkRow(
        int role,
        long thread,
        long[] nanos,
        long batches,
        @Nullable Scheduling scheduling) {
    /**
     * The use of processors and disks by a thread.
     *
     * @param queuedNanos the time that it could run, but had no processor
     * @param majorFaults the page faults that read from a disk
     * @param isReading whether it waits for a disk at present
     * @param startNanos when it started, by the monotonic clock of a machine that was never suspended
     */
    record Scheduling(long cpuNanos, long queuedNanos, long majorFaults, boolean isReading, long startNanos) {
        static final long NANOS_PER_TICK = 10_000_000;
        private static final char WAITS_FOR_DISK = 'D';

        /** Reads the values of a thread; null if it does not exist. */
        static @Nullable Scheduling of(Path task) {
            try {
                String[] fields = Files.readString(task.resolve("schedstat"), StandardCharsets.ISO_8859_1)
                        .strip()
                        .split(" ", -1);
                TaskStat stat = TaskStat.of(task).orElse(null);
                return stat == null
                        ? null
                        : new Scheduling(
                                Long.parseLong(fields[0]),
                                Long.parseLong(fields[1]),
                                stat.majorFaults(),
                                stat.state() == WAITS_FOR_DISK,
                                stat.startTicks() * NANOS_PER_TICK);
            } catch (IOException | IndexOutOfBoundsException | NumberFormatException notVisible) {
                return null;
            }
        }
    }

    /**
     * Reads a row of a file of {@link LoaderDescriptor}.
     *
     * @param now the time of the read
     * @param tasks the folder of the threads of the process in {@code /proc}; null if it is not visible
     */
    static WorkRow of(ByteBuffer file, int row, long now, @Nullable Path tasks) {
        int at = LoaderDescriptor.rowOffset(row);
        long[] nanos = new long[WorkPart.COUNT];
        for (WorkPart part : WorkPart.values()) {
            long word = file.getLong(LoaderDescriptor.totalOffset(at, part));
            nanos[part.index()] = possible(LoaderDescriptor.totalNanos(word, now), now);
        }
        long thread = file.getLong(at + LoaderDescriptor.THREAD_OFFSET);
        return new WorkRow(
                file.getInt(at + LoaderDescriptor.ROLE_OFFSET),
                thread,
                nanos,
                possible(file.getLong(at + LoaderDescriptor.BATCHES_OFFSET), Long.MAX_VALUE),
                tasks == null || thread <= 0 ? null : Scheduling.of(tasks.resolve(Long.toString(thread))));
    }

    /** Returns a count; 0 if it is impossible, because any process of the store's group may have written it. */
    private static long possible(long count, long most) {
        return count < 0 || count > most ? 0 : count;
    }
}
