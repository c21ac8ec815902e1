package dev.larder.internal.layout;

/**
 * Specifies the files of a ring: one process publishes finished batches, and other processes of the machine read them in place.
 *
 * <pre>
 * &lt;store&gt;/rings/&lt;name&gt;/producer.lock          locked by the live producer; the text is for people
 * &lt;store&gt;/rings/&lt;name&gt;/consumer-00 …          one page for each seat; only the holder of its flock writes it
 * &lt;store&gt;/rings/&lt;name&gt;/ring                   header, table of arrays, slots; only the producer writes it. It appears with
 *                                            the first batch, and is complete then
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
 *128 | published: all batches before this one were published                 |
 *    +-----------------+-----------------+-----------------------------------+
 *192 | state           | message length  | message, UTF-8, at most 1024 bytes|
 *    +-----------------+-----------------+-----------------------------------+
 *2048| dropped: for each of up to 64 seats the dropped ticket, or 0          |
 *    +-----------------------------------------------------------------------+
 *4096| table: for each array {@link #ARRAY_LENGTH} bytes, then the UTF-8 of names and dtypes     |
 *
 *  array   name offset int32, name length int32, dtype offset int32, dtype length int32
 *  dtype   numpy's descr text, as in the index
 *  state   1 open, 2 ended, 3 failed: the message has the reason
 *
 *  Batch q is in slot q % slot count. A slot:
 *
 *    0 sequence int64    2q + 1 while batch q is being written, 2q + 2 when it is complete
 *    8 epoch int64
 *   16 number int64      number of the batch in its epoch, from 0
 *   24 size int64        number of samples
 *   32 valid int64       number of valid samples, which come first; the others only pad the last turn of all ranks
 *   64 {@link #PART_LENGTH} bytes for each array, in the order of the table: offset int64 (a multiple of 64), byte size int64,
 *      number of dimensions int64, 13 dimensions int64
 *      data of the arrays, in C order
 * </pre>
 *
 * A {@code consumer-NN}. The producer trusts none of its values further than the steps below need:
 *
 * <pre>
 *    0 ticket int64      any number but 0, new for each consumer; 0 if the seat is free
 *    8 finished int64    the consumer needs no batch before this one
 *   16 check int64       ~finished, written after it; any other value means that finished is being written
 *   24 pid int64         for messages and lists
 *   32 start int64       of this process, in ticks since the boot (/proc/PID/stat): pid and start identify it
 * </pre>
 *
 * <p><b>The producer</b> publishes batch q in these steps. A ticket counts if it is neither 0 nor dropped, and is known if it was in its page
 * when the producer last read that page.
 *
 * <ol>
 *   <li>It waits until each known ticket that counts has finished at least q + 1 − slot count.
 *   <li>It sets claimed to q + 1 or a little more, but to at most slot count + the smallest finished of a known ticket that counts. So
 *       a claim never covers a batch that a known consumer still needs. Claimed never decreases. Full fence.
 *   <li>It reads every page. If a ticket that counts, such as that of a new consumer, has finished less than
 *       q + 1 − slot count, it starts again at the first step.
 *   <li>It sets the slot's sequence to 2q + 1; store fence; writes the batch; sequence 2q + 2; published q + 1 (release).
 * </ol>
 *
 * <p>The first two steps protect a known consumer that has not read claimed yet: it does not lose the batches that it starts with. A
 * consumer that is not known yet may begin later than it announced. The producer may drop a ticket instead of waiting for it, and does so if the seat's flock is free. If the last check
 * found the batches below claimed free, the next ones need no further check.
 *
 * <p><b>A consumer</b> takes the flock of a page; writes ticket 0, then finished and check, then its ticket; full fence; reads claimed.
 * Batches before claimed − slot count may be gone, so it begins at that batch or a later one. If its first batch is later than the
 * finished that it wrote, it writes finished again and reads claimed again. It reads batch q when published is above q. A batch is valid
 * only if the slot's sequence was 2q + 2 both before and after the read. To release the batch, it writes finished q + 1. To leave,
 * it writes ticket 0. If it finds its ticket dropped, the producer no longer waits for it. Before the flock of its page, it opens
 * {@code producer.lock}, and starts again if that has no link afterwards. It reads the state before published: if no batch is left, ENDED
 * is the end, and FAILED a failure with the message. If the state is OPEN and {@code producer.lock} can be locked, the producer has died;
 * then it reads state and published once more. Both sides read and write pages with {@code pread} and {@code pwrite}. The slots are
 * sparse, so a consumer reads only the bytes of a batch. On processors other than x86-64 it loads published and sequences with acquire.
 */
public final class RingDescriptor {
    /** "LARDERRG" read as a little-endian integer. */
    public static final long MAGIC = 0x4752_5245_4452_414cL;

    public static final String PRODUCER_LOCK = "producer.lock";
    public static final String RING = "ring";

    /** The maximum number of consumers of a ring. */
    public static final int SEAT_LIMIT = 64;

    /** The maximum number of dimensions of an array in a batch. */
    public static final int RANK_LIMIT = 13;

    /** The maximum number of arrays in a batch. */
    public static final int ARRAY_LIMIT = 1024;

    public static final int MESSAGE_LIMIT = 1024;

    /** Alignment of the data in a slot: a cache line. */
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
    public static final int SEAT_PROCESS_START_OFFSET = SEAT_PID_OFFSET + Long.BYTES;
    public static final int SEAT_LENGTH = SEAT_PROCESS_START_OFFSET + Long.BYTES;

    private RingDescriptor() {}

    /** Returns the file name of a seat's page. */
    public static String seatFile(int seat) {
        return String.format("consumer-%02d", seat);
    }

    /** Returns the offset of the first data in a slot of a ring with this many arrays. */
    public static long dataOffset(int arrays) {
        return aligned(SLOT_PARTS_OFFSET + (long) arrays * PART_LENGTH, DATA_ALIGNMENT);
    }

    /** Returns the offset of an array's part in a slot. */
    public static int partOffset(int array) {
        return SLOT_PARTS_OFFSET + array * PART_LENGTH;
    }

    /** Returns the offset of the dropped ticket of a seat. */
    public static int droppedOffset(int seat) {
        return DROPPED_OFFSET + seat * Long.BYTES;
    }

    /** Returns the sequence of a slot while a batch is being written. */
    public static long writing(long batch) {
        return 2 * batch + 1;
    }

    /** Returns the sequence of a slot after a batch was written. */
    public static long written(long batch) {
        return 2 * batch + 2;
    }

    /** Rounds up to a multiple of a power of two. */
    public static long aligned(long length, int alignment) {
        return (length + alignment - 1) & -alignment;
    }
}
