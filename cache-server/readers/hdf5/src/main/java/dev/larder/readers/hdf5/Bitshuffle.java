package dev.larder.readers.hdf5;

import dev.larder.reader.chunks.Shuffle;
import io.jhdf.exceptions.HdfException;
import java.nio.ByteBuffer;

/**
 * Undoes the filter bitshuffle, alone or with LZ4: blocks of elements, each with all first bits of its elements, then all second ones, and so on.
 * The last block has as many elements as are left, rounded down to eight; the rest follows as it is.
 */
final class Bitshuffle {
    private static final int ITEM_BYTES = 2;
    private static final int BLOCK_ITEMS = 3;
    private static final int PACKED = 4;
    private static final int LZ4 = 2;

    private static final int DEFAULT_BLOCK_BYTES = 8192;
    private static final int LEAST_BLOCK_ITEMS = 128;

    private Bitshuffle() {}

    /** Returns whether blocks are packed by a known codec, or not at all. */
    static boolean isKnown(int[] values) {
        return value(values, PACKED) == 0 || value(values, PACKED) == LZ4;
    }

    private static int value(int[] values, int index) {
        return index < values.length ? values[index] : 0;
    }

    static byte[] undo(byte[] shuffled, int[] values, int most) {
        int itemBytes = value(values, ITEM_BYTES);
        ByteBuffer in = ByteBuffer.wrap(shuffled);
        boolean isPacked = value(values, PACKED) == LZ4;
        long all = isPacked ? in.getLong() : shuffled.length;
        int blockBytes = isPacked ? in.getInt() : blockItems(values, itemBytes) * itemBytes;
        ChunkFilters.requireLength(all, blockBytes, most);
        if (itemBytes <= 0 || all % itemBytes != 0 || blockBytes % (Shuffle.TOGETHER * itemBytes) != 0) {
            throw new HdfException("bits cannot be shuffled so: itemBytes=" + itemBytes + " blockBytes=" + blockBytes
                    + " bytes=" + all);
        }
        byte[] bytes = new byte[(int) all];
        int unshuffled = bytes.length / (Shuffle.TOGETHER * itemBytes) * Shuffle.TOGETHER * itemBytes;
        byte[] block = new byte[Math.min(blockBytes, unshuffled)];
        for (int at = 0; at < unshuffled; ) {
            int length = Math.min(blockBytes, unshuffled - at);
            if (isPacked) {
                ChunkFilters.unpackBlock(in, in.getInt(), block, 0, length);
            } else {
                in.get(block, 0, length);
            }
            Shuffle.bits(block, length / itemBytes, itemBytes, bytes, at);
            at += length;
        }
        in.get(bytes, unshuffled, bytes.length - unshuffled);
        return bytes;
    }

    private static int blockItems(int[] values, int itemBytes) {
        int items = value(values, BLOCK_ITEMS);
        int usual = itemBytes <= 0 ? 0 : DEFAULT_BLOCK_BYTES / itemBytes / Shuffle.TOGETHER * Shuffle.TOGETHER;
        return items > 0 ? items : Math.max(usual, LEAST_BLOCK_ITEMS);
    }
}
