package dev.larder.distributed.queue;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.npy.Dtype;
import java.nio.charset.StandardCharsets;

/**
 * The record of a handle, little-endian. Only its holder writes it.
 *
 * <pre>
 *     0                 4                 8                 12                16
 *    +-----------------+-----------------+-----------------------------------+
 *  0 | what: 0 buffer, | rank            | byte size                         |
 *    | 1 array, 2 name |                 |                                   |
 *    +-----------------+-----------------+-----------------------------------+
 * 16 | dtype: numpy's descr text, ASCII, at most 16 bytes, ends with zeros   |
 *    +-----------------------------------+-----------------------------------+
 * 32 | tag: a number of the producer's   | id of the array's region          |
 *    +-----------------------------------+-----------------------------------+
 * 48 | shape: 13 int64                                                       |
 *    +-----------------+-----------------------------------------------------+
 *152 | name length     | name, UTF-8: of the array, or the name that was put |
 *    +-----------------+-----------------------------------------------------+
 * </pre>
 */
final class HandleRecord {
    static final int BUFFER = 0;
    static final int ARRAY = 1;
    static final int NAME = 2;

    static final int RANK_LIMIT = 13;
    static final int NAME_LIMIT = QueueDescriptor.RECORD_LENGTH - 156;

    private static final int WHAT_OFFSET = 0;
    private static final int RANK_OFFSET = WHAT_OFFSET + Integer.BYTES;
    private static final int BYTE_SIZE_OFFSET = RANK_OFFSET + Integer.BYTES;
    private static final int DTYPE_OFFSET = BYTE_SIZE_OFFSET + Long.BYTES;
    private static final int DTYPE_LENGTH = 2 * Long.BYTES;
    private static final int TAG_OFFSET = DTYPE_OFFSET + DTYPE_LENGTH;
    private static final int REGION_OFFSET = TAG_OFFSET + Long.BYTES;
    private static final int SHAPE_OFFSET = REGION_OFFSET + Long.BYTES;
    private static final int NAME_LENGTH_OFFSET = SHAPE_OFFSET + RANK_LIMIT * Long.BYTES;
    private static final int NAME_OFFSET = NAME_LENGTH_OFFSET + Integer.BYTES;

    private final SharedMemory memory;
    private final long recordsOffset;

    HandleRecord(SharedMemory memory, int records) {
        this.memory = memory;
        this.recordsOffset = QueueDescriptor.recordsOffset(records);
    }

    private long at(int record, int offset) {
        return recordsOffset + (long) record * QueueDescriptor.RECORD_LENGTH + offset;
    }

    int what(int record) {
        return memory.getInt(at(record, WHAT_OFFSET));
    }

    void what(int record, int what) {
        memory.putInt(at(record, WHAT_OFFSET), what);
    }

    int rank(int record) {
        return memory.getInt(at(record, RANK_OFFSET));
    }

    long size(int record, int dimension) {
        return memory.getLong(at(record, SHAPE_OFFSET + dimension * Long.BYTES));
    }

    static void requireRank(int rank) {
        if (rank > RANK_LIMIT) {
            throw new IllegalArgumentException(rank + " dimensions, of at most " + RANK_LIMIT);
        }
    }

    void shape(int record, long... shape) {
        requireRank(shape.length);
        memory.putInt(at(record, RANK_OFFSET), shape.length);
        for (int i = 0; i < shape.length; i++) {
            memory.putLong(at(record, SHAPE_OFFSET + i * Long.BYTES), shape[i]);
        }
    }

    long byteSize(int record) {
        return memory.getLong(at(record, BYTE_SIZE_OFFSET));
    }

    void byteSize(int record, long byteSize) {
        memory.putLong(at(record, BYTE_SIZE_OFFSET), byteSize);
    }

    long tag(int record) {
        return memory.getLong(at(record, TAG_OFFSET));
    }

    void tag(int record, long tag) {
        memory.putLong(at(record, TAG_OFFSET), tag);
    }

    long region(int record) {
        return memory.getLong(at(record, REGION_OFFSET));
    }

    void region(int record, long id) {
        memory.putLong(at(record, REGION_OFFSET), id);
    }

    long dtypeStart(int record) {
        return memory.getLong(at(record, DTYPE_OFFSET));
    }

    long dtypeEnd(int record) {
        return memory.getLong(at(record, DTYPE_OFFSET + Long.BYTES));
    }

    void dtype(int record, DtypeText dtype) {
        memory.putLong(at(record, DTYPE_OFFSET), dtype.start);
        memory.putLong(at(record, DTYPE_OFFSET + Long.BYTES), dtype.end);
    }

    String name(int record) {
        byte[] bytes = new byte[Math.min(NAME_LIMIT, Math.max(0, memory.getInt(at(record, NAME_LENGTH_OFFSET))))];
        memory.buffer(at(record, NAME_OFFSET), bytes.length).get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    void name(int record, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > NAME_LIMIT) {
            throw Failure.of(ErrorCode.BAD_INPUT, "name is too long to be handed over")
                    .with("bytes", bytes.length)
                    .with("limit", NAME_LIMIT)
                    .with("name", name)
                    .exception();
        }
        memory.putInt(at(record, NAME_LENGTH_OFFSET), bytes.length);
        memory.buffer(at(record, NAME_OFFSET), bytes.length).put(bytes);
    }

    /** A dtype and its text as two numbers, kept so that another transfer of it allocates nothing. */
    static final class DtypeText {
        final Dtype dtype;
        final long start;
        final long end;

        private DtypeText(Dtype dtype, long start, long end) {
            this.dtype = dtype;
            this.start = start;
            this.end = end;
        }

        static DtypeText of(Dtype dtype) {
            byte[] text = dtype.descr().getBytes(StandardCharsets.US_ASCII);
            if (text.length > DTYPE_LENGTH) {
                throw Failure.of(ErrorCode.BAD_INPUT, "dtype is too long to be handed over")
                        .with("dtype", dtype)
                        .with("limit", DTYPE_LENGTH)
                        .remedy("hand its bytes over as |u1");
            }
            return new DtypeText(dtype, packed(text, 0), packed(text, Long.BYTES));
        }

        static DtypeText of(long start, long end) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < DTYPE_LENGTH; i++) {
                long part = i < Long.BYTES ? start : end;
                char letter = (char) ((part >>> (i % Long.BYTES * Byte.SIZE)) & 0xff);
                if (letter != 0) {
                    text.append(letter);
                }
            }
            return new DtypeText(Dtype.parse(text.toString()), start, end);
        }

        private static long packed(byte[] text, int first) {
            long packed = 0;
            for (int i = first; i < Math.min(text.length, first + Long.BYTES); i++) {
                packed |= (long) text[i] << ((i - first) * Byte.SIZE);
            }
            return packed;
        }
    }
}
