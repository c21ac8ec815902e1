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
 * @param nanos the total time of each part, with the present one
 * @param scheduling the kernel's view of the thread; null if it is not visible
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record WorkRow(
        int role,
        long thread,
        long[] nanos,
        long batches,
        long samples,
        long bytes,
        @Nullable Scheduling scheduling) {
    /**
     * The use of processors and disks by a thread.
     *
     * @param queuedNanos the time that it could run, but had no processor
     * @param majorFaults the page faults that read from a disk
     * @param startNanos when it started, by the monotonic clock of a machine that was never suspended
     */
    record Scheduling(long cpuNanos, long queuedNanos, long majorFaults, long startNanos) {
        static final long NANOS_PER_TICK = 10_000_000;

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
                                stat.startTicks() * NANOS_PER_TICK);
            } catch (IOException | IndexOutOfBoundsException | NumberFormatException notVisible) {
                return null;
            }
        }
    }

    /**
     * Reads a row of a file of {@link LoaderDescriptor}.
     *
     * @param first the file
     * @param second the file, read again: if the row has the same part in it, its time so far counts
     * @param now the time before the first read
     * @param tasks the folder of the threads of the process in {@code /proc}; null if it is not visible
     */
    static WorkRow of(ByteBuffer first, ByteBuffer second, int row, long now, @Nullable Path tasks) {
        int at = LoaderDescriptor.rowOffset(row);
        long[] nanos = new long[WorkPart.COUNT];
        for (int part = 0; part < nanos.length; part++) {
            nanos[part] = count(first, at + LoaderDescriptor.TIMES_OFFSET + part * Long.BYTES);
        }
        int part = first.getInt(at + LoaderDescriptor.PART_OFFSET);
        long since = first.getLong(at + LoaderDescriptor.SINCE_OFFSET);
        boolean isPresent = part == second.getInt(at + LoaderDescriptor.PART_OFFSET)
                && since == second.getLong(at + LoaderDescriptor.SINCE_OFFSET);
        if (isPresent && part > 0 && part <= nanos.length) {
            nanos[part - 1] += Math.max(0, now - since);
        }
        long thread = first.getLong(at + LoaderDescriptor.THREAD_OFFSET);
        return new WorkRow(
                first.getInt(at + LoaderDescriptor.ROLE_OFFSET),
                thread,
                nanos,
                count(first, at + LoaderDescriptor.BATCHES_OFFSET),
                count(first, at + LoaderDescriptor.SAMPLES_OFFSET),
                count(first, at + LoaderDescriptor.BYTES_OFFSET),
                tasks == null || thread <= 0 ? null : Scheduling.of(tasks.resolve(Long.toString(thread))));
    }

    /** Returns a count; 0 if it is impossible, because any process of the store's group may have written it. */
    private static long count(ByteBuffer file, int offset) {
        return Math.max(0, file.getLong(offset));
    }
}
