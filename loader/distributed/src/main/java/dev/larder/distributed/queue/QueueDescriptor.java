package dev.larder.distributed.queue;

/**
 * The data of a region for a {@link HandleQueue}; little-endian, offsets from the start of the data.
 *
 * <pre>
 *     0                 4                 8                 12                16
 *    +-----------------+-----------------+-----------------------------------+
 *  0 | capacity        | buffers         | byte size of a buffer             |
 *    +-----------------+-----------------+-----------------+-----------------+
 * 16 | producers       | redelivers: 1   | -                                 |
 *    +-----------------+-----------------+-----------------+-----------------+
 * 64 | 1 ended,        | producers that  | lost: handles taken by consumers  |
 *    | 2 destroyed     | have finished   | that died                         |
 *    +-----------------+-----------------+-----------------------------------+
 * 80 | producers gone  | -                                                   |
 *    | unfinished      |                                                     |
 *    +-----------------+-----------------+-----------------------------------+
 *128 | tail: the number of puts          |                                   |
 *    +-----------------------------------+                                   |
 *192 | head: the number of takes         |                                   |
 *    +-----------------+-----------------+-----------------------------------+
 *256 | items' bell     |                                                     |
 *    +-----------------+                                                     |
 *320 | room's bell     |                                                     |
 *    +-----------------+                                                     |
 *384 | buffers' bell   |                                                     |
 *    +-----------------+-----------------------------------------------------+
 *512 | an int64 for each of {@link #SEATS} seats: its member's pid, for messages, and |
 *    | 2^32 while it produces                                                |
 *    +-----------------------------------------------------------------------+
 *  … | ring: an int64 for each of a power of two of entries                  |
 *    +-----------------------------------------------------------------------+
 *  … | states: an int64 for each record, buffers first                       |
 *    +-----------------------------------------------------------------------+
 *  … | records: {@link #RECORD_LENGTH} bytes each, see {@link HandleRecord}                     |
 *    +-----------------------------------------------------------------------+
 *  … | buffers, each from a multiple of 4096 on                              |
 *
 *  entry   turn (32 bits) | generation's lower 16 bits | record + 1, or 0: empty
 *  state   generation (40 bits) | seat of the holder (16 bits) | kind (8 bits)
 * </pre>
 *
 * The number of records is that of buffers plus the capacity: the records after the buffers are references. A member of the queue has the
 * lock of a seat, and holds records by its number.
 *
 * <p><b>Every step is one compare-and-set</b>. A member that finds only the first of two steps done does the second, so that a process that
 * dies or is stopped between them delays no other:
 *
 * <pre>
 *   claim      state  FREE(g)         → CLAIMED(me, g + 1)
 *   put        entry  empty(turn)     → full(turn, g, record)        then tail + 1
 *   take       state  CLAIMED(any, g) → TAKEN(me, g)                 then entry → empty(turn + 1), then head + 1
 *   give back  state  TAKEN(me, g)    → FREE(g)
 *   return     state  TAKEN(dead, g)  → RETURNING(me, g + 1)         then put
 * </pre>
 *
 * An entry is invalid if its record is neither CLAIMED nor RETURNING in its generation; a member that finds it at the head removes it. A
 * record that a dead member has claimed is free, unless an entry of the ring has it, because its holder died after putting it. No state
 * occurs twice, because each claim raises the generation. Ticket t is in entry t % entries, in turn t / entries.
 */
final class QueueDescriptor {
    static final String KIND = "handle-queue";

    static final int SEATS = 1024;

    /** The most records: their numbers take 16 bits. */
    static final int RECORD_LIMIT = 0xffff;

    static final int STATE_ENDED = 1;
    static final int STATE_DESTROYED = 2;

    static final int CAPACITY_OFFSET = 0;
    static final int BUFFERS_OFFSET = CAPACITY_OFFSET + Integer.BYTES;
    static final int BUFFER_BYTE_SIZE_OFFSET = BUFFERS_OFFSET + Integer.BYTES;
    static final int PRODUCERS_OFFSET = BUFFER_BYTE_SIZE_OFFSET + Long.BYTES;
    static final int REDELIVERS_OFFSET = PRODUCERS_OFFSET + Integer.BYTES;
    static final int STATE_OFFSET = 64;
    static final int FINISHED_OFFSET = STATE_OFFSET + Integer.BYTES;
    static final int LOST_OFFSET = FINISHED_OFFSET + Integer.BYTES;
    static final int GONE_OFFSET = LOST_OFFSET + Long.BYTES;
    static final int TAIL_OFFSET = 128;
    static final int HEAD_OFFSET = 192;
    static final int ITEMS_BELL_OFFSET = 256;
    static final int ROOM_BELL_OFFSET = 320;
    static final int BUFFERS_BELL_OFFSET = 384;
    static final int PIDS_OFFSET = 512;
    static final int RING_OFFSET = PIDS_OFFSET + SEATS * Long.BYTES;
    static final int RECORD_LENGTH = 512;

    private static final int LINE = 64;
    private static final int PAGE = 4096;

    static final int FREE = 0;
    static final int CLAIMED = 1;
    static final int TAKEN = 2;
    static final int RETURNING = 3;

    /** Added to the pid in the word of a seat while its member has claimed a record and not finished. */
    static final long PRODUCES = 1L << Integer.SIZE;

    private static final int SEAT_SHIFT = 8;
    private static final int GENERATION_SHIFT = 24;

    private QueueDescriptor() {}

    static int entries(int records) {
        return Math.max(2, Integer.highestOneBit(records - 1) << 1);
    }

    static long statesOffset(int records) {
        return aligned(RING_OFFSET + (long) entries(records) * Long.BYTES, LINE);
    }

    static long recordsOffset(int records) {
        return aligned(statesOffset(records) + (long) records * Long.BYTES, LINE);
    }

    static long buffersOffset(int records) {
        return aligned(recordsOffset(records) + (long) records * RECORD_LENGTH, PAGE);
    }

    static long bufferStride(long bufferByteSize) {
        return aligned(bufferByteSize, PAGE);
    }

    private static long aligned(long length, int alignment) {
        return (length + alignment - 1) & -alignment;
    }

    static long state(int kind, int seat, long generation) {
        return (generation << GENERATION_SHIFT) | ((long) seat << SEAT_SHIFT) | kind;
    }

    static int kind(long state) {
        return (int) state & 0xff;
    }

    static int seat(long state) {
        return (int) (state >>> SEAT_SHIFT) & 0xffff;
    }

    static long generation(long state) {
        return state >>> GENERATION_SHIFT;
    }

    static long emptyEntry(int turn) {
        return (long) turn << Integer.SIZE;
    }

    static long fullEntry(int turn, int record, long generation) {
        return emptyEntry(turn) | ((generation & 0xffff) << Short.SIZE) | (record + 1);
    }

    static int turn(long entry) {
        return (int) (entry >>> Integer.SIZE);
    }

    /** Returns the record of an entry; -1 if it is empty. */
    static int record(long entry) {
        return ((int) entry & 0xffff) - 1;
    }

    /** Returns whether the record of an entry can be taken. */
    static boolean awaits(long state, long entry) {
        boolean isPut = kind(state) == CLAIMED || kind(state) == RETURNING;
        return isPut && (generation(state) & 0xffff) == ((entry >>> Short.SIZE) & 0xffff);
    }
}
