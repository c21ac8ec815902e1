package dev.larder.internal.layout;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import java.util.zip.Checksum;

/**
 * Specifies the {@code index} of a version: every array, found by name in O(1), read in place from a mapped file.
 *
 * <p>Little-endian. Offsets are bytes from the start of the file. Complete before the version is published, and never
 * changed afterwards.
 *
 * <pre>
 *   0                 4                 8                 12                16
 *  +-----------------------------------+-----------------+-----------------+
 *  | magic "LARDERIX"                  | format version  | array count     |
 *  +-----------------------------------+-----------------+-----------------+
 *  | version                           | slot count      | segment count   |
 *  +-----------------------------------+-----------------+-----------------+
 *  | digest                                                                |
 *  |                                                           (32 bytes)  |
 *  +-----------------------------------+-----------------------------------+
 *  | byte size of this file            | published, ms since the epoch     |
 *  +-----------------------------------+-----------------------------------+
 *  | slots offset                      | entries offset                    |
 *  +-----------------------------------+-----------------------------------+
 *  | segments offset                   | shapes offset                     |
 *  +-----------------------------------+-----------------+-----------------+
 *  | text offset                       | crc32c of file  | sums offset     |
 *  +-----------------------------------+-----------------+-----------------+
 *
 *  slots     int32 each, a power of two of them, at least twice the arrays: 0 = free, else entry number + 1;
 *            linear probing from {@link #hash} of the name
 *  entries   {@link #ENTRY_LENGTH} bytes each, sorted by name
 *  segments  {@link #SEGMENT_LENGTH} bytes each; a file outside the store has its absolute path, the time of its last
 *            write in nanoseconds since the epoch, and its inode, to detect a change; others have zeros
 *  shapes    int64 per dimension
 *  text      UTF-8 of names, dtypes and segment files
 *  sums      int32 each, to the end of the file: the CRC-32 of each block of {@link #BLOCK_LENGTH} bytes before the sums
 * </pre>
 *
 * A reader of a large index checks a block before it uses a byte of it, so that the time to open a dataset does not grow with its
 * arrays. The CRC32C covers the whole file. It is four zeros in its own computation and in that of the first block. A sums offset of 0, as
 * earlier builds wrote it, means that there are no sums: then Java checks the whole file, and Python only offsets and lengths. The sums are
 * CRC-32 and not CRC32C, because Python's library computes only that.
 */
public final class IndexDescriptor {
    /** "LARDERIX" read as a little-endian integer. */
    public static final long MAGIC = 0x5849_5245_4452_414cL;

    /** The maximum length of an index, enough for more than a million arrays. */
    public static final long BYTE_SIZE_LIMIT = 1L << 30;

    public static final int MAGIC_OFFSET = 0;
    public static final int FORMAT_VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;
    public static final int ARRAY_COUNT_OFFSET = FORMAT_VERSION_OFFSET + Integer.BYTES;
    public static final int VERSION_OFFSET = ARRAY_COUNT_OFFSET + Integer.BYTES;
    public static final int SLOT_COUNT_OFFSET = VERSION_OFFSET + Long.BYTES;
    public static final int SEGMENT_COUNT_OFFSET = SLOT_COUNT_OFFSET + Integer.BYTES;
    public static final int DIGEST_OFFSET = SEGMENT_COUNT_OFFSET + Integer.BYTES;
    public static final int BYTE_SIZE_OFFSET = DIGEST_OFFSET + Digest.LENGTH;
    public static final int PUBLISHED_OFFSET = BYTE_SIZE_OFFSET + Long.BYTES;
    public static final int SLOTS_OFFSET_OFFSET = PUBLISHED_OFFSET + Long.BYTES;
    public static final int ENTRIES_OFFSET_OFFSET = SLOTS_OFFSET_OFFSET + Long.BYTES;
    public static final int SEGMENTS_OFFSET_OFFSET = ENTRIES_OFFSET_OFFSET + Long.BYTES;
    public static final int SHAPES_OFFSET_OFFSET = SEGMENTS_OFFSET_OFFSET + Long.BYTES;
    public static final int TEXT_OFFSET_OFFSET = SHAPES_OFFSET_OFFSET + Long.BYTES;
    public static final int CRC32C_OFFSET = TEXT_OFFSET_OFFSET + Long.BYTES;
    public static final int SUMS_OFFSET_OFFSET = CRC32C_OFFSET + Integer.BYTES;
    public static final int HEADER_LENGTH = SUMS_OFFSET_OFFSET + Integer.BYTES;

    /** The bytes that one of the sums covers; the last block before the sums may be shorter. */
    public static final int BLOCK_LENGTH = 1024;

    public static final int ENTRY_HASH_OFFSET = 0;
    public static final int ENTRY_NAME_OFFSET = ENTRY_HASH_OFFSET + Long.BYTES;
    public static final int ENTRY_NAME_LENGTH_OFFSET = ENTRY_NAME_OFFSET + Integer.BYTES;
    public static final int ENTRY_DTYPE_OFFSET = ENTRY_NAME_LENGTH_OFFSET + Integer.BYTES;
    public static final int ENTRY_DTYPE_LENGTH_OFFSET = ENTRY_DTYPE_OFFSET + Integer.BYTES;
    public static final int ENTRY_SHAPE_OFFSET = ENTRY_DTYPE_LENGTH_OFFSET + Integer.BYTES;
    public static final int ENTRY_DIMENSIONS_OFFSET = ENTRY_SHAPE_OFFSET + Integer.BYTES;
    public static final int ENTRY_DATA_OFFSET = ENTRY_DIMENSIONS_OFFSET + Integer.BYTES;
    public static final int ENTRY_BYTE_SIZE_OFFSET = ENTRY_DATA_OFFSET + Long.BYTES;
    public static final int ENTRY_SEGMENT_OFFSET = ENTRY_BYTE_SIZE_OFFSET + Long.BYTES;
    public static final int ENTRY_CRC32C_OFFSET = ENTRY_SEGMENT_OFFSET + Integer.BYTES;
    public static final int ENTRY_ORDER_OFFSET = ENTRY_CRC32C_OFFSET + Integer.BYTES;
    public static final int ENTRY_PART_OFFSET = ENTRY_ORDER_OFFSET + Integer.BYTES;
    public static final int ENTRY_LENGTH = ENTRY_PART_OFFSET + Integer.BYTES;

    public static final int SEGMENT_BYTE_SIZE_OFFSET = 0;
    public static final int SEGMENT_FILE_OFFSET = SEGMENT_BYTE_SIZE_OFFSET + Long.BYTES;
    public static final int SEGMENT_FILE_LENGTH_OFFSET = SEGMENT_FILE_OFFSET + Integer.BYTES;
    public static final int SEGMENT_MODIFIED_OFFSET = SEGMENT_FILE_LENGTH_OFFSET + Integer.BYTES;
    public static final int SEGMENT_INODE_OFFSET = SEGMENT_MODIFIED_OFFSET + Long.BYTES;
    public static final int SEGMENT_LENGTH = SEGMENT_INODE_OFFSET + Long.BYTES;

    private static final long FNV_OFFSET_BASIS = 0xcbf2_9ce4_8422_2325L;
    private static final long FNV_PRIME = 0x0000_0100_0000_01b3L;

    private IndexDescriptor() {}

    /** Hashes a name: 64-bit FNV-1a over its UTF-8 bytes (Fowler, Noll, Vo), the high half folded onto the low. */
    public static long hash(byte[] name) {
        long hash = FNV_OFFSET_BASIS;
        for (byte b : name) {
            hash = (hash ^ (b & 0xff)) * FNV_PRIME;
        }
        return hash ^ (hash >>> 32);
    }

    /** Returns the number of blocks before the sums. */
    static int blocks(int sumsOffset) {
        return sumsOffset / BLOCK_LENGTH + (sumsOffset % BLOCK_LENGTH == 0 ? 0 : 1);
    }

    /** Updates a checksum with a part of an index, as if {@link #CRC32C_OFFSET} held zeros. */
    static void update(Checksum sum, ByteBuffer index, int start, int length) {
        int end = start + length;
        if (start <= CRC32C_OFFSET && end >= SUMS_OFFSET_OFFSET) {
            sum.update(index.slice(start, CRC32C_OFFSET - start));
            sum.update(new byte[Integer.BYTES]);
            sum.update(index.slice(SUMS_OFFSET_OFFSET, end - SUMS_OFFSET_OFFSET));
        } else {
            sum.update(index.slice(start, length));
        }
    }

    /** Computes the sum of a block that is before the sums at this offset. */
    static int blockSum(ByteBuffer index, int block, int sumsOffset) {
        CRC32 sum = new CRC32();
        int start = block * BLOCK_LENGTH;
        update(sum, index, start, Math.min(BLOCK_LENGTH, sumsOffset - start));
        return (int) sum.getValue();
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
