package dev.larder.internal.layout;

/**
 * Specifies the files of a ring: finished batches that one process publishes and any others of the machine read in place.
 *
 * <pre>
 * &lt;store&gt;/rings/&lt;name&gt;/producer.lock          alive while its flock is held; the text is for people
 * &lt;store&gt;/rings/&lt;name&gt;/consumer-00 …          one page for each seat; who holds its flock sits there, and alone writes it
 * &lt;store&gt;/rings/&lt;name&gt;/ring                   header, table of arrays, slots; written by the producer alone. There from
 *                                            the first batch on; complete when it appears
 * </pre>
 *
 * <p>Little-endian, int64 at multiples of 8. Offsets are bytes: in the header and the table from the start of the file, in a
 * slot from the start of that slot. The {@code ring}:
 *
 * <pre>
 *     0                 4                 8                 12                16
 *    +-----------------------------------+-----------------+-----------------+
 *  0 | magic "LARDERRG"                  | format version  | array count     |
 *    +-----------------+-----------------+-----------------+-----------------+
 * 16 | slot count      | seat count      | slot byte size, a multiple of 4096|
 *    +-----------------+-----------------+-----------------------------------+
 * 32 | slots offset, a multiple of 4096  | byte size of this file            |
 *    +-----------------------------------+-----------------------------------+
 * 64 | claimed: the producer may be writing any batch before this one        |
 *    +-----------------------------------------------------------------------+
 *128 | published: batches 0 to this one, exclusive, were published           |
 *    +-----------------+-----------------+-----------------------------------+
 *192 | state           | message length  | message, UTF-8, at most 1024 bytes|
 *    +-----------------+-----------------+-----------------------------------+
 *2048| dropped: for each of up to 64 seats the ticket that was dropped, or 0 |
 *    +-----------------------------------------------------------------------+
 *4096| table: for each array {@link #ARRAY_LENGTH} bytes, then the UTF-8 of names and dtypes     |
 *
 *  array   name offset int32, name length int32, dtype offset int32, dtype length int32
 *  dtype   numpy's descr text, as in the index
 *  state   1 open, 2 ended, 3 failed: the message says why
 *
 *  Batch q lies in slot q % slot count. A slot:
 *
 *    0 sequence int64    2q + 1 while batch q is being written, 2q + 2 once it is there
 *    8 epoch int64
 *   16 number int64      of the batch in its epoch, from 0
 *   24 size int64        samples
 *   32 valid int64       so many of them count, from the first on; the others only fill up the last turn of all ranks
 *   64 {@link #PART_LENGTH} bytes for each array, as the table has them: offset int64 (a multiple of 64), byte size int64,
 *      number of dimensions int64, 13 dimensions int64
 *      data of the arrays, in C order
 * </pre>
 *
 * A {@code consumer-NN}, of which the producer believes nothing that it need not:
 *
 * <pre>
 *    0 ticket int64      any number but 0, new for each consumer; 0: nobody sits here
 *    8 finished int64    the consumer needs no batch before this one
 *   16 check int64       ~finished, written after it: another value says that one is being written
 *   24 pid int64         for messages
 * </pre>
 *
 * <p><b>The producer</b> publishes batch q in these steps. A ticket counts if it is neither 0 nor dropped.
 *
 * <ol>
 *   <li>It reads every page, and waits until each ticket that counts has finished at least q + 1 − slot count.
 *   <li>It sets claimed to q + 1 or a little more, but to no more than slot count + the least that a ticket which counts has
 *       finished: a claim never passes what a known consumer still needs. Claimed never decreases. Full fence.
 *   <li>It reads every page again, and goes back to the first step if a ticket that counts, such as that of a consumer that came
 *       meanwhile, has finished less than q + 1 − slot count.
 *   <li>It sets the slot's sequence to 2q + 1; store fence; writes the batch; sequence 2q + 2; published q + 1 (release).
 * </ol>
 *
 * <p>The first step keeps a consumer that has written its ticket, but has not read claimed yet, from losing the batches it asked
 * for. The producer may drop a ticket instead of waiting for it, and does where the seat's flock is free. Batches below claimed
 * that the last look found free need no further look.
 *
 * <p><b>A consumer</b> takes the flock of a page; writes ticket 0, then finished and check, then its ticket; full fence; reads
 * claimed. Batches before claimed − slot count may be gone: it begins at that one or later, and where that is later than what
 * it wrote, writes finished again and looks again. It reads batch q once published is above q, and holds that what it read is
 * what was published where the slot's sequence was 2q + 2 before and is after. Moving on is finished q + 1. It leaves by
 * writing ticket 0. Where it finds its ticket dropped it is not waited for any more.
 */
public final class RingDescriptor {
    /** "LARDERRG" read as a little-endian integer. */
    public static final long MAGIC = 0x4752_5245_4452_414cL;

    public static final String PRODUCER_LOCK = "producer.lock";
    public static final String RING = "ring";

    /** How many consumers a ring has room for at the most. */
    public static final int SEAT_LIMIT = 64;

    /** How many dimensions an array of a batch has at the most. */
    public static final int RANK_LIMIT = 13;

    /** How many arrays a batch has at the most. */
    public static final int ARRAY_LIMIT = 1024;

    public static final int MESSAGE_LIMIT = 1024;

    /** Where data begins in a slot: at a multiple of a cache line. */
    public static final int DATA_ALIGNMENT = 64;

    public static final int PAGE_LENGTH = 4096;

    public static final int STATE_OPEN = 1;
    public static final int STATE_ENDED = 2;
    public static final int STATE_FAILED = 3;

    public static final int MAGIC_OFFSET = 0;
    public static final int FORMAT_VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;
    public static final int ARRAY_COUNT_OFFSET = FORMAT_VERSION_OFFSET + Integer.BYTES;
    public static final int SLOT_COUNT_OFFSET = ARRAY_COUNT_OFFSET + Integer.BYTES;
    public static final int SEAT_COUNT_OFFSET = SLOT_COUNT_OFFSET + Integer.BYTES;
    public static final int SLOT_BYTE_SIZE_OFFSET = SEAT_COUNT_OFFSET + Integer.BYTES;
    public static final int SLOTS_OFFSET_OFFSET = SLOT_BYTE_SIZE_OFFSET + Long.BYTES;
    public static final int BYTE_SIZE_OFFSET = SLOTS_OFFSET_OFFSET + Long.BYTES;
    public static final int CLAIMED_OFFSET = 64;
    public static final int PUBLISHED_OFFSET = 128;
    public static final int STATE_OFFSET = 192;
    public static final int MESSAGE_LENGTH_OFFSET = STATE_OFFSET + Integer.BYTES;
    public static final int MESSAGE_OFFSET = MESSAGE_LENGTH_OFFSET + Integer.BYTES;
    public static final int DROPPED_OFFSET = 2048;
    public static final int TABLE_OFFSET = PAGE_LENGTH;

    public static final int ARRAY_NAME_OFFSET = 0;
    public static final int ARRAY_NAME_LENGTH_OFFSET = ARRAY_NAME_OFFSET + Integer.BYTES;
    public static final int ARRAY_DTYPE_OFFSET = ARRAY_NAME_LENGTH_OFFSET + Integer.BYTES;
    public static final int ARRAY_DTYPE_LENGTH_OFFSET = ARRAY_DTYPE_OFFSET + Integer.BYTES;
    public static final int ARRAY_LENGTH = ARRAY_DTYPE_LENGTH_OFFSET + Integer.BYTES;

    public static final int SLOT_SEQUENCE_OFFSET = 0;
    public static final int SLOT_EPOCH_OFFSET = SLOT_SEQUENCE_OFFSET + Long.BYTES;
    public static final int SLOT_NUMBER_OFFSET = SLOT_EPOCH_OFFSET + Long.BYTES;
    public static final int SLOT_SIZE_OFFSET = SLOT_NUMBER_OFFSET + Long.BYTES;
    public static final int SLOT_VALID_OFFSET = SLOT_SIZE_OFFSET + Long.BYTES;
    public static final int SLOT_PARTS_OFFSET = 64;

    public static final int PART_DATA_OFFSET = 0;
    public static final int PART_BYTE_SIZE_OFFSET = PART_DATA_OFFSET + Long.BYTES;
    public static final int PART_RANK_OFFSET = PART_BYTE_SIZE_OFFSET + Long.BYTES;
    public static final int PART_SHAPE_OFFSET = PART_RANK_OFFSET + Long.BYTES;
    public static final int PART_LENGTH = PART_SHAPE_OFFSET + RANK_LIMIT * Long.BYTES;

    public static final int SEAT_TICKET_OFFSET = 0;
    public static final int SEAT_FINISHED_OFFSET = SEAT_TICKET_OFFSET + Long.BYTES;
    public static final int SEAT_CHECK_OFFSET = SEAT_FINISHED_OFFSET + Long.BYTES;
    public static final int SEAT_PID_OFFSET = SEAT_CHECK_OFFSET + Long.BYTES;
    public static final int SEAT_LENGTH = SEAT_PID_OFFSET + Long.BYTES;

    private RingDescriptor() {}

    /** Returns the name of the page of a seat. */
    public static String seatFile(int seat) {
        return String.format("consumer-%02d", seat);
    }

    /** Returns where data may begin in a slot of a ring with so many arrays. */
    public static long dataOffset(int arrays) {
        return aligned(SLOT_PARTS_OFFSET + (long) arrays * PART_LENGTH, DATA_ALIGNMENT);
    }

    /** Returns where the part of an array lies in a slot. */
    public static int partOffset(int array) {
        return SLOT_PARTS_OFFSET + array * PART_LENGTH;
    }

    /** Returns where the dropped ticket of a seat stands. */
    public static int droppedOffset(int seat) {
        return DROPPED_OFFSET + seat * Long.BYTES;
    }

    /** Returns what a slot's sequence is while a batch is being written. */
    public static long writing(long batch) {
        return 2 * batch + 1;
    }

    /** Returns what a slot's sequence is once a batch is there. */
    public static long written(long batch) {
        return 2 * batch + 2;
    }

    /** Rounds up to a multiple of a power of two. */
    public static long aligned(long length, int alignment) {
        return (length + alignment - 1) & -alignment;
    }
}
