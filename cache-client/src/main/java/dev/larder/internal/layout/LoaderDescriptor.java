package dev.larder.internal.layout;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.AtomicBuffer;

/**
 * Specifies {@code <store>/loaders/<pid>-<number>}, the counters of one live loader. The loader's process holds an exclusive {@code flock}
 * on it: a file without that lock is of a dead process. Little-endian, int64 at multiples of 8.
 *
 * <pre>
 *    0 int64  magic "LARDERLD"
 *    8 int32  format version, written last: 0 means that the rest is incomplete
 *   12 int32  number of rows
 *   16 int64  pid
 *   24 int64  start of the process, in ticks since the boot (/proc/PID/stat): pid and start identify it
 *   32 int64  creation of the loader, in nanoseconds of CLOCK_MONOTONIC
 *   40 int32  program: 1 Java, 2 Python, 3 larder feed
 *   44 int32  threads that gather
 *   48 int32  slots: batches that are filled ahead or open
 *   52 int32  samples of a batch; 0 if batches differ
 *   56 int32  processors that the process may use
 *   64 int64  bytes of a sample, or their mean
 *  128 text   name of the dataset, UTF-8, padded with zeros
 *  640 text   name of the feed that publishes the batches; empty if there is none
 * 1024 rows of 128 bytes
 * </pre>
 *
 * A row belongs to one thread, and only that thread writes it. Row 0 is that of the
 * consumer, or of the thread that uploads. If this thread gathers, it counts that in row 1, without its id.
 *
 * <pre>
 *    0 int32  role: 0 unused, 1 consumer, 2 the thread that uploads, 3 a thread that gathers; a consumer that helps has a row for each role
 *    8 int64  thread id, 0 if unknown or if the thread has ended
 *   16 double for each {@link WorkPart}: its total time in seconds
 *   88 int64  batches that the consumer has taken
 * </pre>
 *
 * <p>A thread begins a part by subtracting the present time from its total, and ends it by adding the present time. So a negative total is
 * that of the present part, and a reader adds the present time to it. Times are those of CLOCK_MONOTONIC. They are numbers that Python
 * reads and writes fast, because its threads write a few of them for each batch.
 *
 * <p>If the folder is missing, full or closed to the user, a loader works without a file. In a store with a group any member can create
 * files there, so a reader opens them with {@code O_NOFOLLOW | O_NONBLOCK}, reads with {@code pread}, and trusts no number.
 */
public final class LoaderDescriptor {
    /** Increases with each change of the layout. */
    public static final int FORMAT_VERSION = 2;

    public static final int ROLE_CONSUMER = 1;
    public static final int ROLE_UPLOADER = 2;
    public static final int ROLE_GATHERER = 3;

    public static final int PROGRAM_JAVA = 1;
    public static final int PROGRAM_PYTHON = 2;
    public static final int PROGRAM_FEED = 3;

    public static final int HEADER_LENGTH = 1024;
    public static final int ROW_LENGTH = 128;

    /** The row of a consumer that gathers itself. */
    public static final int HELPER_ROW = 1;

    /** The most rows of a file. */
    public static final int ROW_LIMIT = 1 << 11;

    // in a row
    public static final int ROLE_OFFSET = 0;
    public static final int THREAD_OFFSET = 8;
    public static final int BATCHES_OFFSET = 88;

    private static final int TIMES_OFFSET = 16;

    private static final long MAGIC = 0x444c_5245_4452_414cL; // "LARDERLD", little-endian
    private static final int FORMAT_VERSION_OFFSET = 8;
    private static final int ROWS_OFFSET = 12;
    private static final int PID_OFFSET = 16;
    private static final int PROCESS_START_OFFSET = 24;
    private static final int CREATED_OFFSET = 32;
    private static final int PROGRAM_OFFSET = 40;
    private static final int THREADS_OFFSET = 44;
    private static final int SLOTS_OFFSET = 48;
    private static final int BATCH_OFFSET = 52;
    private static final int PROCESSORS_OFFSET = 56;
    private static final int SAMPLE_BYTES_OFFSET = 64;
    private static final int DATASET_OFFSET = 128;
    private static final int FEED_OFFSET = 640;
    private static final int PAGE_LENGTH = 4096;
    private static final double SECOND_NANOS = 1e9;
    private static final double NANO_SECONDS = 1e-9; // to multiply is faster than to divide

    private LoaderDescriptor() {}

    /**
     * The facts of a loader that do not change.
     *
     * @param processStart in ticks since the boot
     * @param createdNanos by the monotonic clock
     * @param program one of the {@code PROGRAM} constants
     * @param batchSize 0 if batches differ
     * @param sampleBytes the bytes of a sample, or their mean
     * @param feed empty if the batches are not published
     */
    public record Facts(
            long pid,
            long processStart,
            long createdNanos,
            int program,
            int threads,
            int slots,
            int batchSize,
            int processors,
            long sampleBytes,
            String dataset,
            String feed) {}

    /** Returns the bytes of a file with this many rows: whole pages. */
    public static int fileLength(int rows) {
        return (HEADER_LENGTH + rows * ROW_LENGTH + PAGE_LENGTH - 1) / PAGE_LENGTH * PAGE_LENGTH;
    }

    /** Returns the offset of a row in the file. */
    public static int rowOffset(int row) {
        return HEADER_LENGTH + row * ROW_LENGTH;
    }

    /** Writes the total time of a part; negative, minus its start, while it lasts. */
    public static void writeTotal(AtomicBuffer file, int rowOffset, WorkPart part, long nanos) {
        file.putLongOrdered(totalOffset(rowOffset, part), Double.doubleToRawLongBits(nanos * NANO_SECONDS));
    }

    /**
     * Returns the total time of a part, with the present part until now.
     *
     * @param word the word in the file
     */
    public static long totalNanos(long word, long now) {
        long nanos = (long) (Double.longBitsToDouble(word) * SECOND_NANOS); // 0 for a word that is no number
        return nanos < 0 ? nanos + now : nanos;
    }

    /** Returns the offset of the total time of a part. */
    public static int totalOffset(int rowOffset, WorkPart part) {
        return rowOffset + TIMES_OFFSET + part.index() * Long.BYTES;
    }

    /** Writes the header of a file of zeros, and then makes it valid. */
    public static void write(AtomicBuffer file, Facts facts, int rows) {
        file.putLong(0, MAGIC, ByteOrder.LITTLE_ENDIAN);
        file.putInt(ROWS_OFFSET, rows, ByteOrder.LITTLE_ENDIAN);
        file.putLong(PID_OFFSET, facts.pid, ByteOrder.LITTLE_ENDIAN);
        file.putLong(PROCESS_START_OFFSET, facts.processStart, ByteOrder.LITTLE_ENDIAN);
        file.putLong(CREATED_OFFSET, facts.createdNanos, ByteOrder.LITTLE_ENDIAN);
        file.putInt(PROGRAM_OFFSET, facts.program, ByteOrder.LITTLE_ENDIAN);
        file.putInt(THREADS_OFFSET, facts.threads, ByteOrder.LITTLE_ENDIAN);
        file.putInt(SLOTS_OFFSET, facts.slots, ByteOrder.LITTLE_ENDIAN);
        file.putInt(BATCH_OFFSET, facts.batchSize, ByteOrder.LITTLE_ENDIAN);
        file.putInt(PROCESSORS_OFFSET, facts.processors, ByteOrder.LITTLE_ENDIAN);
        file.putLong(SAMPLE_BYTES_OFFSET, facts.sampleBytes, ByteOrder.LITTLE_ENDIAN);
        putText(file, DATASET_OFFSET, FEED_OFFSET, facts.dataset);
        putText(file, FEED_OFFSET, HEADER_LENGTH, facts.feed);
        file.putIntOrdered(FORMAT_VERSION_OFFSET, FORMAT_VERSION);
    }

    private static void putText(AtomicBuffer file, int from, int to, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        file.putBytes(from, bytes, 0, Math.min(bytes.length, to - from));
    }

    /** Returns whether this is a complete file of this format. The buffer is little-endian. */
    public static boolean isComplete(ByteBuffer file) {
        return file.limit() >= HEADER_LENGTH
                && file.getLong(0) == MAGIC
                && file.getInt(FORMAT_VERSION_OFFSET) == FORMAT_VERSION
                && file.getInt(ROWS_OFFSET) >= 0
                && file.getInt(ROWS_OFFSET) <= ROW_LIMIT
                && file.limit() >= rowOffset(file.getInt(ROWS_OFFSET));
    }

    /** Returns the number of rows of a complete file. */
    public static int rows(ByteBuffer file) {
        return file.getInt(ROWS_OFFSET);
    }

    /** Returns the facts in a complete file. */
    public static Facts facts(ByteBuffer file) {
        return new Facts(
                file.getLong(PID_OFFSET),
                file.getLong(PROCESS_START_OFFSET),
                file.getLong(CREATED_OFFSET),
                file.getInt(PROGRAM_OFFSET),
                file.getInt(THREADS_OFFSET),
                file.getInt(SLOTS_OFFSET),
                file.getInt(BATCH_OFFSET),
                file.getInt(PROCESSORS_OFFSET),
                file.getLong(SAMPLE_BYTES_OFFSET),
                text(file, DATASET_OFFSET, FEED_OFFSET),
                text(file, FEED_OFFSET, HEADER_LENGTH));
    }

    /** Returns printable text: any process of the store's group may have written it. */
    private static String text(ByteBuffer file, int from, int to) {
        int end = from;
        while (end < to && file.get(end) != 0) {
            end++;
        }
        byte[] bytes = new byte[end - from];
        file.get(from, bytes);
        return new String(bytes, StandardCharsets.UTF_8).replaceAll("\\p{C}", "?");
    }
}
