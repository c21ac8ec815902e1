package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.AtomicBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersReader;

/**
 * The layout of {@code <store>/counters}, which contains the counters of a live daemon. Every reader of the store can read it without
 * the daemon. Little-endian. Agrona's {@code CountersManager} writes the two regions.
 *
 * <pre>
 *     0  +----------------------------------------------------------+
 *        | int64  magic "LRDCOUNT"                                  |
 *     8  +-----------------------------+----------------------------+
 *        | int32  format version       | int32  unused              |   the version is written last, with release:
 *    16  +-----------------------------+----------------------------+   0 means that the rest is incomplete
 *        | int64  process id of the daemon                          |
 *    24  +----------------------------------------------------------+
 *        | int64  start of the daemon, ms since the epoch           |
 *    32  +-----------------------------+----------------------------+
 *        | int32  metadata length      | int32  values length       |
 *    40  +-----------------------------+----------------------------+
 *        | unused                                                   |
 *   128  +----------------------------------------------------------+
 *        | metadata: 512 bytes a counter (type, key, label)         |
 *        +----------------------------------------------------------+
 *        | values: 128 bytes a counter (int64 and padding)          |
 *        +----------------------------------------------------------+
 * </pre>
 */
public final class CountersDescriptor {
    /** Increases with each change of the layout. */
    public static final int FORMAT_VERSION = 1;

    /** The maximum number of counters in a file. */
    public static final int CAPACITY = 64;

    /** Length of the metadata region in bytes. */
    public static final int METADATA_LENGTH = CAPACITY * CountersReader.METADATA_LENGTH;

    /** Length of the region of values in bytes. */
    public static final int VALUES_LENGTH = CAPACITY * CountersReader.COUNTER_LENGTH;

    private static final long MAGIC = 0x544E_554F_4344_524CL; // "LRDCOUNT", little-endian
    private static final int MAGIC_OFFSET = 0;
    private static final int FORMAT_VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;
    private static final int PID_OFFSET = FORMAT_VERSION_OFFSET + 2 * Integer.BYTES;
    private static final int START_OFFSET = PID_OFFSET + Long.BYTES;
    private static final int METADATA_LENGTH_OFFSET = START_OFFSET + Long.BYTES;
    private static final int VALUES_LENGTH_OFFSET = METADATA_LENGTH_OFFSET + Integer.BYTES;
    private static final int HEADER_LENGTH = 128;

    /** Length of the whole file in bytes. */
    public static final int FILE_LENGTH = HEADER_LENGTH + METADATA_LENGTH + VALUES_LENGTH;

    private CountersDescriptor() {}

    /** Writes the header, except for the version, of a file of zeros. */
    public static void writeHeader(AtomicBuffer file, long pid, long startEpochMs) {
        file.putLong(MAGIC_OFFSET, MAGIC, ByteOrder.LITTLE_ENDIAN);
        file.putLong(PID_OFFSET, pid, ByteOrder.LITTLE_ENDIAN);
        file.putLong(START_OFFSET, startEpochMs, ByteOrder.LITTLE_ENDIAN);
        file.putInt(METADATA_LENGTH_OFFSET, METADATA_LENGTH, ByteOrder.LITTLE_ENDIAN);
        file.putInt(VALUES_LENGTH_OFFSET, VALUES_LENGTH, ByteOrder.LITTLE_ENDIAN);
    }

    /** Makes the file valid. This is the last write to the header. */
    public static void formatVersionRelease(AtomicBuffer file) {
        file.putIntOrdered(FORMAT_VERSION_OFFSET, FORMAT_VERSION);
    }

    /** Returns a buffer over the metadata region. */
    public static AtomicBuffer metadata(AtomicBuffer file) {
        return new UnsafeBuffer(file, HEADER_LENGTH, METADATA_LENGTH);
    }

    /** Returns a buffer over the values. */
    public static AtomicBuffer values(AtomicBuffer file) {
        return new UnsafeBuffer(file, HEADER_LENGTH + METADATA_LENGTH, VALUES_LENGTH);
    }

    /** Reads all counters of a store, by label. Fails with NO_DAEMON if the file is missing or incomplete. */
    public static Snapshot read(Path file) {
        UnsafeBuffer bytes;
        try {
            bytes = new UnsafeBuffer(Files.readAllBytes(file));
        } catch (NoSuchFileException absent) {
            throw Failure.of(ErrorCode.NO_DAEMON, "no counters")
                    .with("file", file)
                    .cause(absent)
                    .remedy(Remedy.START_DAEMON);
        } catch (IOException unreadable) {
            throw Failure.of(ErrorCode.REFUSED, "cannot read counters")
                    .with("file", file)
                    .with("reason", unreadable)
                    .cause(unreadable)
                    .exception();
        }
        check(file, bytes);
        Map<String, Long> counters = new LinkedHashMap<>();
        new CountersReader(metadata(bytes), values(bytes)).forEach((value, id, label) -> counters.put(label, value));
        return new Snapshot(value(bytes, PID_OFFSET), value(bytes, START_OFFSET), counters);
    }

    private static void check(Path file, DirectBuffer bytes) {
        if (bytes.capacity() >= HEADER_LENGTH && bytes.getInt(FORMAT_VERSION_OFFSET, ByteOrder.LITTLE_ENDIAN) == 0) {
            throw Failure.of(ErrorCode.NO_DAEMON, "counters are not ready")
                    .with("file", file)
                    .remedy("try again: the daemon is starting, or died while starting");
        }
        boolean whole = bytes.capacity() == FILE_LENGTH
                && value(bytes, MAGIC_OFFSET) == MAGIC
                && bytes.getInt(FORMAT_VERSION_OFFSET, ByteOrder.LITTLE_ENDIAN) == FORMAT_VERSION
                && bytes.getInt(METADATA_LENGTH_OFFSET, ByteOrder.LITTLE_ENDIAN) == METADATA_LENGTH
                && bytes.getInt(VALUES_LENGTH_OFFSET, ByteOrder.LITTLE_ENDIAN) == VALUES_LENGTH;
        if (!whole) {
            throw Failure.of(ErrorCode.BAD_INPUT, "counters have an unknown layout")
                    .with("file", file)
                    .with("bytes", bytes.capacity())
                    .with("expectedBytes", FILE_LENGTH)
                    .with("expectedVersion", FORMAT_VERSION)
                    .remedy("use the same Larder release as the daemon");
        }
    }

    private static long value(DirectBuffer bytes, int offset) {
        return bytes.getLong(offset, ByteOrder.LITTLE_ENDIAN);
    }

    /** The values of the counters at one moment, in the order in which the daemon declares them. */
    public record Snapshot(long pid, long startEpochMs, Map<String, Long> counters) {}
}
