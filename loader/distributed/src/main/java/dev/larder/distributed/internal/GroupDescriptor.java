package dev.larder.distributed.internal;

import dev.larder.internal.layout.RegionDescriptor;

/**
 * Specifies the region of a process group, which all its ranks write. Seat n of the region is taken by rank n.
 *
 * <pre>
 *      0                4                8                16
 *     +----------------+----------------+-----------------+
 *    0| world size     | chunk byte size| sums' layout    |  written by the rank that creates it
 *     +----------------+----------------+-----------------+
 *  128| bell           | sleepers       | padding         |  bell: ranks that wait for all sleep here; it changes when all have arrived
 *     +----------------+----------------+-----------------+
 *  256| broken by + 1  | written        | error code      |  0 until the group breaks; then the reason
 *  268| byte size      | message, UTF-8                   |
 *     +---------------------------------+-----------------+
 * 4096| line of rank 0, 256 bytes                         |
 * 4352| line of rank 1 ...                                |
 *     +---------------------------------------------------+
 *     | slots, from a multiple of 4096 on:                |
 *     | {@link #DEPTH} of rank 0, each of a chunk's size; of rank 1; ...
 *
 *  A rank's line, which only that rank writes:
 *    0  steps that it has done (int, wraps around; 1 when it has joined)
 *    8  its last calls, those of even and of odd number:
 *       8 number, 16 kind, 24 byte size;   32 number, 40 kind, 48 byte size
 *  128  state (int): 0 not yet here, 1 joined, 2 closed
 *  132  of rank 0: additional milliseconds that the others wait, because it waits for other nodes (int)
 *  136  process id (long)
 *  144  the processors that it may use, one bit each, of the first 896
 * </pre>
 *
 * A kind has the number of the collective in its lowest byte, that of the type in the next, that of the operation in the third, and
 * the root plus one above. Words with waiting ranks are 128 bytes apart: processors fetch cache lines in pairs.
 */
public final class GroupDescriptor {
    /** The kind of the region. */
    public static final String KIND = "process-group-1";

    /** The most chunks of a rank in progress. */
    public static final int DEPTH = 4;

    private static final int PADDED_LINE = 128;
    private static final int PAGE = 4096;

    public static final int WORLD_SIZE_OFFSET = 0;
    public static final int CHUNK_BYTE_SIZE_OFFSET = WORLD_SIZE_OFFSET + Integer.BYTES;

    public static final int SUMS_OFFSET = CHUNK_BYTE_SIZE_OFFSET + Integer.BYTES;

    public static final int BELL_OFFSET = PADDED_LINE;
    public static final int SLEEPERS_OFFSET = BELL_OFFSET + Integer.BYTES;

    public static final int BROKEN_BY_OFFSET = BELL_OFFSET + PADDED_LINE;
    public static final int BROKEN_TOLD_OFFSET = BROKEN_BY_OFFSET + Integer.BYTES;
    public static final int BROKEN_CODE_OFFSET = BROKEN_TOLD_OFFSET + Integer.BYTES;
    public static final int MESSAGE_LENGTH_OFFSET = BROKEN_CODE_OFFSET + Integer.BYTES;
    public static final int MESSAGE_OFFSET = MESSAGE_LENGTH_OFFSET + Integer.BYTES;
    public static final int MESSAGE_LENGTH = PAGE - MESSAGE_OFFSET;

    public static final int LINES_OFFSET = PAGE;
    public static final int LINE_LENGTH = 2 * PADDED_LINE;
    public static final int PROGRESS_OFFSET = 0;
    public static final int CALLS_OFFSET = PROGRESS_OFFSET + Long.BYTES;
    public static final int CALL_NUMBER_OFFSET = 0;
    public static final int CALL_KIND_OFFSET = CALL_NUMBER_OFFSET + Long.BYTES;
    public static final int CALL_BYTES_OFFSET = CALL_KIND_OFFSET + Long.BYTES;
    public static final int CALL_LENGTH = CALL_BYTES_OFFSET + Long.BYTES;
    public static final int STATE_OFFSET = PADDED_LINE;
    public static final int ABROAD_OFFSET = STATE_OFFSET + Integer.BYTES;
    public static final int PID_OFFSET = STATE_OFFSET + Long.BYTES;
    public static final int CORES_OFFSET = PID_OFFSET + Long.BYTES;
    public static final int CORES_WORDS = (LINE_LENGTH - CORES_OFFSET) / Long.BYTES;

    public static final int STATE_ABSENT = 0;
    public static final int STATE_JOINED = 1;
    public static final int STATE_CLOSED = 2;

    /** Each rank has a seat. */
    public static final int WORLD_SIZE_LIMIT = RegionDescriptor.SEAT_LIMIT;

    private GroupDescriptor() {}

    public static int line(int rank) {
        return LINES_OFFSET + rank * LINE_LENGTH;
    }

    public static int call(int rank, long number) {
        return line(rank) + CALLS_OFFSET + (int) (number & 1) * CALL_LENGTH;
    }

    public static long slots(int worldSize) {
        return (line(worldSize) + PAGE - 1L) / PAGE * PAGE;
    }

    public static long byteSize(int worldSize, int chunkByteSize) {
        return slots(worldSize) + (long) worldSize * DEPTH * chunkByteSize;
    }
}
