package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads the index of a version in place. Checks a small one at once, and of a large one each block before it uses a byte of it.
 * Thread-safe. Owns no memory.
 */
public final class IndexReader {
    /** An index of up to this length is checked as a whole when it is opened. */
    private static final int SMALL_INDEX_BYTES = 64 * IndexDescriptor.BLOCK_LENGTH;

    private final ByteBuffer index;
    private final Object source;
    private final int arrayCount;
    private final int slotMask;
    private final int slots;
    private final int entries;
    private final int segments;
    private final int segmentCount;

    /** The end of the part that has tables and text. */
    private final int contentEnd;

    /** Which blocks are checked; null if the whole index is. Benign races fill it. */
    private final boolean @Nullable [] checkedBlocks;

    /** The decoded file names by segment, so that all arrays of a pack share one String. */
    private final Map<Integer, String> segmentFiles = new ConcurrentHashMap<>();

    /**
     * Wraps the bytes of an index and checks magic, format version, length, header and tables.
     *
     * @param source the file, for messages
     */
    public IndexReader(ByteBuffer bytes, Object source) {
        this.index = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        this.source = source;
        check(index, source);
        int sums = index.getInt(IndexDescriptor.SUMS_OFFSET_OFFSET);
        this.contentEnd = sums == 0 ? index.capacity() : sumsOffset(sums);
        boolean isCheckedWhole = sums == 0 || index.capacity() <= SMALL_INDEX_BYTES;
        this.checkedBlocks = isCheckedWhole ? null : new boolean[IndexDescriptor.blocks(sums)];
        if (isCheckedWhole) {
            requireWhole();
        } else {
            requireSound(0, IndexDescriptor.HEADER_LENGTH);
        }
        this.arrayCount = index.getInt(IndexDescriptor.ARRAY_COUNT_OFFSET);
        int slotCount = index.getInt(IndexDescriptor.SLOT_COUNT_OFFSET);
        this.slotMask = slotCount - 1;
        this.segmentCount = index.getInt(IndexDescriptor.SEGMENT_COUNT_OFFSET);
        this.slots = table(IndexDescriptor.SLOTS_OFFSET_OFFSET, slotCount, Integer.BYTES);
        this.entries = table(IndexDescriptor.ENTRIES_OFFSET_OFFSET, arrayCount, IndexDescriptor.ENTRY_LENGTH);
        this.segments = table(IndexDescriptor.SEGMENTS_OFFSET_OFFSET, segmentCount, IndexDescriptor.SEGMENT_LENGTH);
        if (Integer.bitCount(slotCount) != 1) {
            throw pointsOutside("slots", slotCount);
        }
    }

    /** Returns the offset of the sums. Fails unless they fill the end of the file. */
    private int sumsOffset(int offset) {
        if (offset < IndexDescriptor.HEADER_LENGTH
                || offset + (long) IndexDescriptor.blocks(offset) * Integer.BYTES != index.capacity()) {
            throw pointsOutside("sums", offset);
        }
        return offset;
    }

    /** Returns the offset of a table. Fails unless the whole table is inside the index. */
    private int table(int offset, int count, int elementLength) {
        return inside("table", index.getLong(offset), (long) count * elementLength);
    }

    /**
     * Checks a range although the checksum is right: the checksum proves that the bytes are as written, not that their author
     * is honest.
     */
    private int inside(String part, long start, long length) {
        if (start < 0 || length < 0 || length > contentEnd - start) {
            throw pointsOutside(part, start);
        }
        return (int) start;
    }

    /** Returns the offset of an element of the index. Fails if a block that contains a byte of it is damaged. */
    private int requireSound(int start, int length) {
        if (checkedBlocks != null && length > 0) {
            int last = (start + length - 1) / IndexDescriptor.BLOCK_LENGTH;
            for (int block = start / IndexDescriptor.BLOCK_LENGTH; block <= last; block++) {
                if (!checkedBlocks[block]) {
                    int expected = index.getInt(contentEnd + block * Integer.BYTES);
                    requireEqual("crc32", IndexDescriptor.blockSum(index, block, contentEnd), expected);
                    checkedBlocks[block] = true;
                }
            }
        }
        return start;
    }

    /** Checks every byte, even those that are never used. */
    public void requireWhole() {
        CRC32C crc = new CRC32C();
        IndexDescriptor.update(crc, index, 0, index.capacity());
        requireEqual("crc32c", (int) crc.getValue(), index.getInt(IndexDescriptor.CRC32C_OFFSET));
    }

    private void requireEqual(String sum, int found, int expected) {
        if (found != expected) {
            throw damaged("index is damaged", source)
                    .with(sum, Integer.toHexString(found))
                    .with("expected", Integer.toHexString(expected))
                    .remedy(reload(source));
        }
    }

    private int numberBelow(String part, int number, int count) {
        if (number < 0 || number >= count) {
            throw pointsOutside(part, number);
        }
        return number;
    }

    private LarderException pointsOutside(String part, long value) {
        return damaged("index has an offset outside its file", source)
                .with("part", part)
                .with("value", value)
                .remedy(reload(source));
    }

    private static void check(ByteBuffer index, Object source) {
        int capacity = index.capacity();
        if (capacity < IndexDescriptor.HEADER_LENGTH
                || index.getLong(IndexDescriptor.MAGIC_OFFSET) != IndexDescriptor.MAGIC) {
            throw damaged("not an index", source).with("bytes", capacity).remedy(reload(source));
        }
        int formatVersion = index.getInt(IndexDescriptor.FORMAT_VERSION_OFFSET);
        if (formatVersion != StoreLayout.FORMAT_VERSION) {
            throw Failure.of(ErrorCode.REFUSED, "the store has another format version")
                    .with("file", source)
                    .with("found", formatVersion)
                    .with("expected", StoreLayout.FORMAT_VERSION)
                    .remedy("use the same Larder release as the daemon");
        }
        if (index.getLong(IndexDescriptor.BYTE_SIZE_OFFSET) != capacity) {
            throw damaged("index has the wrong length", source)
                    .with("found", capacity)
                    .with("expected", index.getLong(IndexDescriptor.BYTE_SIZE_OFFSET))
                    .remedy(reload(source));
        }
    }

    private static String reload(Object source) {
        return Remedy.reload(source instanceof Path file ? file.getParent() : null);
    }

    private static Failure damaged(String problem, Object source) {
        return Failure.of(ErrorCode.CHECKSUM, problem).with("file", source);
    }

    /** Returns the number of the version. */
    public long version() {
        return index.getLong(IndexDescriptor.VERSION_OFFSET);
    }

    /** Returns the digest of the version in hex. */
    public String digest() {
        byte[] digest = new byte[Digest.LENGTH];
        index.get(IndexDescriptor.DIGEST_OFFSET, digest);
        return Digest.hex(digest);
    }

    /** Returns the time of publication, in milliseconds since the epoch. */
    public long publishedEpochMs() {
        return index.getLong(IndexDescriptor.PUBLISHED_OFFSET);
    }

    /** Returns the number of arrays. */
    public int arrayCount() {
        return arrayCount;
    }

    /** Returns the number of segments. */
    public int segmentCount() {
        return segmentCount;
    }

    /** Finds an array by name. Returns null if there is none. */
    public @Nullable ArrayEntry find(String name) {
        int entry = entryOf(name);
        return entry < 0 ? null : read(entry);
    }

    /** Returns the segment with an array. Throws {@link IllegalArgumentException} if there is no such array. */
    public SegmentFile segmentOf(String name) {
        int entry = entryOf(name);
        if (entry < 0) {
            throw new IllegalArgumentException("no such array: " + name);
        }
        return segment(segmentOf(entry));
    }

    /** Returns the offset of an array's entry, or -1 if there is none. */
    private int entryOf(String name) {
        byte[] utf8 = IndexDescriptor.utf8(name);
        long hash = IndexDescriptor.hash(utf8);
        int slot = (int) hash & slotMask;
        for (int probes = 0; probes <= slotMask; probes++) {
            int number = index.getInt(requireSound(slots + slot * Integer.BYTES, Integer.BYTES));
            if (number == 0) {
                return -1;
            }
            int entry = entryAt(numberBelow("slot", number - 1, arrayCount));
            if (index.getLong(entry + IndexDescriptor.ENTRY_HASH_OFFSET) == hash
                    && Arrays.equals(textBytes(entry + IndexDescriptor.ENTRY_NAME_OFFSET), utf8)) {
                return entry;
            }
            slot = (slot + 1) & slotMask;
        }
        return -1;
    }

    /** Returns the array with this number; arrays are sorted by name. */
    public ArrayEntry array(int number) {
        return read(entryAt(Objects.checkIndex(number, arrayCount)));
    }

    /** Returns the file of a segment, relative to the version's folder. */
    public String segmentFile(int segment) {
        int at = segmentAt(segment);
        return segmentFiles.computeIfAbsent(segment, unknown -> text(at + IndexDescriptor.SEGMENT_FILE_OFFSET));
    }

    /** Returns the description of a segment. */
    public SegmentFile segment(int segment) {
        int at = segmentAt(segment);
        return new SegmentFile(
                segmentFile(segment),
                segmentByteSize(segment),
                index.getLong(at + IndexDescriptor.SEGMENT_MODIFIED_OFFSET),
                index.getLong(at + IndexDescriptor.SEGMENT_INODE_OFFSET));
    }

    /** Returns the length of a segment's file. */
    public long segmentByteSize(int segment) {
        return index.getLong(segmentAt(segment) + IndexDescriptor.SEGMENT_BYTE_SIZE_OFFSET);
    }

    private ArrayEntry read(int entry) {
        int segment = segmentOf(entry);
        int dimensions = index.getInt(entry + IndexDescriptor.ENTRY_DIMENSIONS_OFFSET);
        int shapeAt = inside(
                "shape", index.getInt(entry + IndexDescriptor.ENTRY_SHAPE_OFFSET), (long) dimensions * Long.BYTES);
        requireSound(shapeAt, dimensions * Long.BYTES);
        long[] shape = new long[dimensions];
        for (int i = 0; i < shape.length; i++) {
            shape[i] = index.getLong(shapeAt + i * Long.BYTES);
        }
        return new ArrayEntry(
                text(entry + IndexDescriptor.ENTRY_NAME_OFFSET),
                text(entry + IndexDescriptor.ENTRY_DTYPE_OFFSET),
                (char) index.getInt(entry + IndexDescriptor.ENTRY_ORDER_OFFSET),
                shape,
                segmentFile(segment),
                index.getLong(entry + IndexDescriptor.ENTRY_DATA_OFFSET),
                index.getLong(entry + IndexDescriptor.ENTRY_BYTE_SIZE_OFFSET),
                index.getInt(entry + IndexDescriptor.ENTRY_CRC32C_OFFSET),
                part(index.getInt(entry + IndexDescriptor.ENTRY_PART_OFFSET)));
    }

    private int segmentOf(int entry) {
        return numberBelow("segment", index.getInt(entry + IndexDescriptor.ENTRY_SEGMENT_OFFSET), segmentCount);
    }

    /** Returns the part with this code. An array in a kind of column of a newer release is read as a plain array. */
    private static ColumnPart part(int code) {
        ColumnPart part = ColumnPart.of(code);
        return part == null ? ColumnPart.NONE : part;
    }

    private int entryAt(int number) {
        return requireSound(entries + number * IndexDescriptor.ENTRY_LENGTH, IndexDescriptor.ENTRY_LENGTH);
    }

    private int segmentAt(int segment) {
        int at = segments + Objects.checkIndex(segment, segmentCount) * IndexDescriptor.SEGMENT_LENGTH;
        return requireSound(at, IndexDescriptor.SEGMENT_LENGTH);
    }

    private String text(int at) {
        return new String(textBytes(at), StandardCharsets.UTF_8);
    }

    private byte[] textBytes(int at) {
        int length = index.getInt(at + Integer.BYTES);
        int start = inside("text", index.getInt(at), length);
        byte[] bytes = new byte[length];
        index.get(requireSound(start, length), bytes);
        return bytes;
    }
}
