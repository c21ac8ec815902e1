package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.PageSize;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The arrays and sizes of a ring: the part of its header that never changes.
 *
 * @param slotByteSize a multiple of the page size, below 2 GiB
 */
record RingGeometry(List<RingArray> arrays, int slots, int seats, long slotByteSize) {
    /** The longest buffer of the JDK, in whole pages. */
    static final long SLOT_LIMIT = Integer.MAX_VALUE - (RingDescriptor.PAGE_LENGTH - 1L);

    static final int SLOT_COUNT_LIMIT = 4096;

    /** The most address space that slots without a fixed length take in each consumer. */
    private static final long SLOTS_LIMIT = 64L << 30;

    private static final long TABLE_LIMIT = 1L << 24;

    RingGeometry {
        arrays = List.copyOf(arrays);
    }

    /** Returns the offset of the slots: a multiple of the huge page size if slots can be on huge pages. */
    long slotsOffset() {
        boolean isHuge = slotByteSize >= PageSize.HUGE_BYTES && slotByteSize % PageSize.HUGE_BYTES == 0;
        return ByteSums.roundUp(headerByteSize(), isHuge ? PageSize.HUGE_BYTES : RingDescriptor.PAGE_LENGTH);
    }

    /** Returns the bytes of the header and the table. */
    long headerByteSize() {
        long text = arrays.stream()
                .mapToLong(
                        array -> utf8(array.name()).length + utf8(array.dtype().descr()).length)
                .sum();
        long table = RingDescriptor.TABLE_OFFSET + (long) arrays.size() * RingDescriptor.ARRAY_LENGTH + text;
        return RingDescriptor.aligned(table, RingDescriptor.PAGE_LENGTH);
    }

    long slotOffset(int slot) {
        return slotsOffset() + slot * slotByteSize;
    }

    long byteSize() {
        return slotOffset(slots);
    }

    /**
     * Returns the bytes of a slot if the length of batches is not configured: 64 GiB divided by the number of slots, or four times the
     * first batch if that is more, but at most 2 GiB. Most of it never takes memory.
     */
    static long roomFor(long firstBatchBytes, int slots) {
        long share = Math.max(SLOTS_LIMIT / slots, 4 * firstBatchBytes);
        return Math.min(
                ByteSums.roundUp(share, PageSize.HUGE_BYTES), ByteSums.roundDown(SLOT_LIMIT, PageSize.HUGE_BYTES));
    }

    /** Writes the header of a file that no other process can open yet. */
    void writeTo(ByteBuffer header) {
        header.putLong(RingDescriptor.MAGIC_OFFSET, RingDescriptor.MAGIC)
                .putInt(RingDescriptor.FORMAT_VERSION_OFFSET, StoreLayout.FORMAT_VERSION)
                .putInt(RingDescriptor.ARRAY_COUNT_OFFSET, arrays.size())
                .putInt(RingDescriptor.SLOT_COUNT_OFFSET, slots)
                .putInt(RingDescriptor.SEAT_COUNT_OFFSET, seats)
                .putLong(RingDescriptor.SLOT_BYTE_SIZE_OFFSET, slotByteSize)
                .putLong(RingDescriptor.SLOTS_OFFSET_OFFSET, slotsOffset())
                .putLong(RingDescriptor.BYTE_SIZE_OFFSET, byteSize())
                .putInt(RingDescriptor.STATE_OFFSET, RingDescriptor.STATE_OPEN);
        int entry = RingDescriptor.TABLE_OFFSET;
        int text = entry + arrays.size() * RingDescriptor.ARRAY_LENGTH;
        for (RingArray array : arrays) {
            byte[] name = utf8(array.name());
            byte[] dtype = utf8(array.dtype().descr());
            header.putInt(entry + RingDescriptor.ARRAY_NAME_OFFSET, text)
                    .putInt(entry + RingDescriptor.ARRAY_NAME_LENGTH_OFFSET, name.length)
                    .putInt(entry + RingDescriptor.ARRAY_DTYPE_OFFSET, text + name.length)
                    .putInt(entry + RingDescriptor.ARRAY_DTYPE_LENGTH_OFFSET, dtype.length)
                    .put(text, name)
                    .put(text + name.length, dtype);
            entry += RingDescriptor.ARRAY_LENGTH;
            text += name.length + dtype.length;
        }
    }

    /** Reads and checks a header; another program may have written the file. */
    static RingGeometry read(ByteBuffer start, long fileBytes, Path file) {
        long magic = start.getLong(RingDescriptor.MAGIC_OFFSET);
        int format = start.getInt(RingDescriptor.FORMAT_VERSION_OFFSET);
        if (magic != RingDescriptor.MAGIC || format != StoreLayout.FORMAT_VERSION) {
            throw Failure.of(ErrorCode.CHECKSUM, "not a ring of this release")
                    .with("file", file)
                    .with("formatVersion", format)
                    .remedy("use the same Larder release for producer and consumers");
        }
        try {
            RingGeometry found = new RingGeometry(
                    readTable(start),
                    start.getInt(RingDescriptor.SLOT_COUNT_OFFSET),
                    start.getInt(RingDescriptor.SEAT_COUNT_OFFSET),
                    start.getLong(RingDescriptor.SLOT_BYTE_SIZE_OFFSET));
            if (found.isSound()
                    && found.slotsOffset() == start.getLong(RingDescriptor.SLOTS_OFFSET_OFFSET)
                    && found.byteSize() == start.getLong(RingDescriptor.BYTE_SIZE_OFFSET)
                    && found.byteSize() == fileBytes) {
                return found;
            }
        } catch (IndexOutOfBoundsException | LarderException e) {
            throw damaged(file).cause(e).exception();
        }
        throw damaged(file).remedy("publish again");
    }

    /** Returns the number of bytes to map for {@link #read}. */
    static long headerBytes(long fileBytes) {
        return Math.min(fileBytes, TABLE_LIMIT);
    }

    private boolean isSound() {
        return slots >= 2
                && slots <= SLOT_COUNT_LIMIT
                && seats >= 1
                && seats <= RingDescriptor.SEAT_LIMIT
                && slotByteSize >= RingDescriptor.dataOffset(arrays.size())
                && slotByteSize <= SLOT_LIMIT
                && slotByteSize % RingDescriptor.PAGE_LENGTH == 0;
    }

    private static List<RingArray> readTable(ByteBuffer header) {
        int count = header.getInt(RingDescriptor.ARRAY_COUNT_OFFSET);
        if (count < 0 || count > RingDescriptor.ARRAY_LIMIT) {
            throw new IndexOutOfBoundsException("array count: " + count);
        }
        List<RingArray> arrays = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int entry = RingDescriptor.TABLE_OFFSET + i * RingDescriptor.ARRAY_LENGTH;
            String name = text(header, entry + RingDescriptor.ARRAY_NAME_OFFSET);
            String dtype = text(header, entry + RingDescriptor.ARRAY_DTYPE_OFFSET);
            arrays.add(new RingArray(name, Dtype.parse(dtype)));
        }
        return arrays;
    }

    private static String text(ByteBuffer header, int at) {
        ByteBuffer bytes = header.slice(header.getInt(at), header.getInt(at + Integer.BYTES));
        return StandardCharsets.UTF_8.decode(bytes).toString();
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Failure damaged(Path file) {
        return Failure.of(ErrorCode.CHECKSUM, "header of a ring is damaged").with("file", file);
    }
}
