package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/** Writes the index of a version to memory, as {@link IndexDescriptor} specifies. */
public final class IndexWriter {
    private static final int SECTION_ALIGNMENT = 8;

    private final List<ArrayEntry> arrays;
    private final Map<String, Integer> segments = new LinkedHashMap<>();
    private final Map<String, Integer> textOffsets = new LinkedHashMap<>();
    private final int slotCount;
    private int textLength;

    private IndexWriter(List<ArrayEntry> arrays) {
        this.arrays = new ArrayList<>(arrays);
        this.arrays.sort(Comparator.comparing(ArrayEntry::name));
        this.slotCount = Math.max(2, Integer.highestOneBit(Math.max(1, arrays.size())) * 4);
        for (ArrayEntry array : this.arrays) {
            segments.putIfAbsent(array.file(), segments.size());
            addText(array.name());
            addText(array.dtype());
            addText(array.file());
        }
    }

    /**
     * Returns the bytes of an index if all arrays are in the store.
     *
     * @param segmentByteSizes the length of each segment of the arrays, by file
     */
    public static byte[] write(
            List<ArrayEntry> arrays, Map<String, Long> segmentByteSizes, long version, long publishedEpochMs) {
        List<SegmentFile> files = new ArrayList<>();
        segmentByteSizes.forEach((file, byteSize) -> files.add(SegmentFile.inStore(file, byteSize)));
        return write(arrays, files, version, publishedEpochMs);
    }

    /**
     * Returns the bytes of an index.
     *
     * @param segmentFiles the segments of the arrays
     */
    public static byte[] write(
            List<ArrayEntry> arrays, List<SegmentFile> segmentFiles, long version, long publishedEpochMs) {
        Map<String, SegmentFile> byFile = new HashMap<>();
        segmentFiles.forEach(segment -> byFile.put(segment.file(), segment));
        return new IndexWriter(arrays).write(byFile, version, publishedEpochMs);
    }

    private byte[] write(Map<String, SegmentFile> segmentFiles, long version, long publishedEpochMs) {
        int slots = IndexDescriptor.HEADER_LENGTH;
        int entries = aligned(slots + slotCount * Integer.BYTES);
        int segmentsAt = entries + Math.multiplyExact(arrays.size(), IndexDescriptor.ENTRY_LENGTH);
        int shapes = segmentsAt + segments.size() * IndexDescriptor.SEGMENT_LENGTH;
        int dimensions = arrays.stream().mapToInt(array -> array.shape().length).sum();
        int text = shapes + dimensions * Long.BYTES;
        int sums = aligned(
                (int) Math.min(Integer.MAX_VALUE / 2, (long) text + textLength)); // a longer text is refused below
        int blocks = IndexDescriptor.blocks(sums);
        long byteSize = Math.max((long) text + textLength, sums + (long) blocks * Integer.BYTES);
        if (byteSize > IndexDescriptor.BYTE_SIZE_LIMIT) {
            throw Failure.of(ErrorCode.BAD_INPUT, "too many arrays for one dataset")
                    .with("arrays", arrays.size())
                    .with("indexBytes", byteSize)
                    .with("limitBytes", IndexDescriptor.BYTE_SIZE_LIMIT)
                    .remedy("load it as several datasets");
        }
        ByteBuffer index = ByteBuffer.allocate((int) byteSize).order(ByteOrder.LITTLE_ENDIAN);
        index.putLong(IndexDescriptor.MAGIC_OFFSET, IndexDescriptor.MAGIC);
        index.putInt(IndexDescriptor.FORMAT_VERSION_OFFSET, StoreLayout.FORMAT_VERSION);
        index.putInt(IndexDescriptor.ARRAY_COUNT_OFFSET, arrays.size());
        index.putLong(IndexDescriptor.VERSION_OFFSET, version);
        index.putInt(IndexDescriptor.SLOT_COUNT_OFFSET, slotCount);
        index.putInt(IndexDescriptor.SEGMENT_COUNT_OFFSET, segments.size());
        index.put(IndexDescriptor.DIGEST_OFFSET, Digest.of(arrays));
        index.putLong(IndexDescriptor.BYTE_SIZE_OFFSET, byteSize);
        index.putLong(IndexDescriptor.PUBLISHED_OFFSET, publishedEpochMs);
        index.putLong(IndexDescriptor.SLOTS_OFFSET_OFFSET, slots);
        index.putLong(IndexDescriptor.ENTRIES_OFFSET_OFFSET, entries);
        index.putLong(IndexDescriptor.SEGMENTS_OFFSET_OFFSET, segmentsAt);
        index.putLong(IndexDescriptor.SHAPES_OFFSET_OFFSET, shapes);
        index.putLong(IndexDescriptor.TEXT_OFFSET_OFFSET, text);
        textOffsets.forEach((string, offset) -> index.put(text + offset, IndexDescriptor.utf8(string)));
        writeSegments(index, segmentsAt, text, segmentFiles);
        writeEntries(index, entries, shapes, text);
        writeSlots(index, slots, entries);
        index.putInt(IndexDescriptor.SUMS_OFFSET_OFFSET, sums);
        for (int block = 0; block < blocks; block++) {
            index.putInt(sums + block * Integer.BYTES, IndexDescriptor.blockSum(index, block, sums));
        }
        index.putInt(IndexDescriptor.CRC32C_OFFSET, checksum(index));
        return index.array();
    }

    private void writeSegments(ByteBuffer index, int at, int text, Map<String, SegmentFile> segmentFiles) {
        segments.forEach((file, number) -> {
            int segment = at + number * IndexDescriptor.SEGMENT_LENGTH;
            SegmentFile described = segmentFiles.get(file);
            if (described == null) {
                throw new IllegalArgumentException("no length given for segment " + file);
            }
            index.putLong(segment + IndexDescriptor.SEGMENT_BYTE_SIZE_OFFSET, described.byteSize());
            index.putLong(segment + IndexDescriptor.SEGMENT_MODIFIED_OFFSET, described.modifiedNanos());
            index.putLong(segment + IndexDescriptor.SEGMENT_INODE_OFFSET, described.inode());
            putText(index, segment + IndexDescriptor.SEGMENT_FILE_OFFSET, text, file);
        });
    }

    private void writeEntries(ByteBuffer index, int at, int shapes, int text) {
        int shapeAt = shapes;
        for (int i = 0; i < arrays.size(); i++) {
            ArrayEntry array = arrays.get(i);
            int entry = at + i * IndexDescriptor.ENTRY_LENGTH;
            index.putLong(entry + IndexDescriptor.ENTRY_HASH_OFFSET, hash(array));
            putText(index, entry + IndexDescriptor.ENTRY_NAME_OFFSET, text, array.name());
            putText(index, entry + IndexDescriptor.ENTRY_DTYPE_OFFSET, text, array.dtype());
            index.putInt(entry + IndexDescriptor.ENTRY_SHAPE_OFFSET, shapeAt);
            index.putInt(entry + IndexDescriptor.ENTRY_DIMENSIONS_OFFSET, array.shape().length);
            index.putLong(entry + IndexDescriptor.ENTRY_DATA_OFFSET, array.offset());
            index.putLong(entry + IndexDescriptor.ENTRY_BYTE_SIZE_OFFSET, array.byteSize());
            index.putInt(entry + IndexDescriptor.ENTRY_SEGMENT_OFFSET, segmentOf(array));
            index.putInt(entry + IndexDescriptor.ENTRY_CRC32C_OFFSET, array.crc32c());
            index.putInt(entry + IndexDescriptor.ENTRY_ORDER_OFFSET, array.order());
            index.putInt(entry + IndexDescriptor.ENTRY_PART_OFFSET, array.part().code());
            for (long dimension : array.shape()) {
                index.putLong(shapeAt, dimension);
                shapeAt += Long.BYTES;
            }
        }
    }

    private void writeSlots(ByteBuffer index, int slots, int entries) {
        for (int i = 0; i < arrays.size(); i++) {
            long hash = index.getLong(entries + i * IndexDescriptor.ENTRY_LENGTH + IndexDescriptor.ENTRY_HASH_OFFSET);
            int slot = (int) hash & (slotCount - 1);
            while (index.getInt(slots + slot * Integer.BYTES) != 0) {
                slot = (slot + 1) & (slotCount - 1);
            }
            index.putInt(slots + slot * Integer.BYTES, i + 1);
        }
    }

    private int segmentOf(ArrayEntry array) {
        return segments.getOrDefault(array.file(), -1);
    }

    private void putText(ByteBuffer index, int at, int text, String string) {
        index.putInt(at, text + textOffsets.getOrDefault(string, -1));
        index.putInt(at + Integer.BYTES, IndexDescriptor.utf8(string).length);
    }

    private void addText(String string) {
        if (!textOffsets.containsKey(string)) {
            textOffsets.put(string, textLength);
            textLength = Math.addExact(textLength, IndexDescriptor.utf8(string).length);
        }
    }

    private static long hash(ArrayEntry array) {
        return IndexDescriptor.hash(IndexDescriptor.utf8(array.name()));
    }

    private static int checksum(ByteBuffer index) {
        CRC32C crc = new CRC32C();
        crc.update(index.duplicate().rewind());
        return (int) crc.getValue();
    }

    private static int aligned(int offset) {
        return (offset + SECTION_ALIGNMENT - 1) & -SECTION_ALIGNMENT;
    }
}
