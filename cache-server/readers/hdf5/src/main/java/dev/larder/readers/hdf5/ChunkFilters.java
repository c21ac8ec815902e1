package dev.larder.readers.hdf5;

import dev.larder.reader.chunks.Shuffle;
import io.jhdf.exceptions.HdfException;
import io.jhdf.object.message.FilterPipelineMessage;
import io.jhdf.object.message.FilterPipelineMessage.FilterInfo;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import org.jspecify.annotations.Nullable;

/**
 * Undoes the filters of chunks, the last one first. The library does so too, but applies filters that a chunk was written without, leaves checksums
 * in the data that it shuffles, and takes memory for lengths that a file claims.
 */
final class ChunkFilters {
    private static final int DEFLATE = 1;
    private static final int SHUFFLE = 2;
    private static final int FLETCHER32 = 3;
    private static final int LZF = 32000;
    private static final int LZ4 = 32004;
    private static final int BITSHUFFLE = 32008;

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(DEFLATE, "deflate"),
            Map.entry(SHUFFLE, "shuffle"),
            Map.entry(FLETCHER32, "fletcher32"),
            Map.entry(4, "szip"),
            Map.entry(5, "nbit"),
            Map.entry(6, "scaleoffset"),
            Map.entry(LZF, "lzf"),
            Map.entry(LZ4, "lz4"),
            Map.entry(BITSHUFFLE, "bitshuffle"));

    private static final int LZF_REFERENCE = 32;
    private static final int LZF_LONG = 7;
    private static final int CHECKSUM_BYTES = Integer.BYTES;
    private static final int SUMS_WITHOUT_FOLDING = 1024;
    private static final LZ4SafeDecompressor LZ4_BLOCKS =
            LZ4Factory.fastestJavaInstance().safeDecompressor();

    private final List<FilterInfo> filters;
    private final int chunkBytes;

    /** Takes filters in the order of writing. */
    ChunkFilters(List<FilterInfo> filters, int chunkBytes) {
        this.filters = filters;
        this.chunkBytes = chunkBytes;
    }

    /** Returns why chunks cannot be unpacked, null if they can. */
    static @Nullable String objection(FilterPipelineMessage message) {
        for (FilterInfo filter : message.getFilters()) {
            boolean isKnown = switch (filter.getId()) {
                case DEFLATE, SHUFFLE, FLETCHER32, LZF, LZ4 -> true;
                case BITSHUFFLE -> Bitshuffle.isKnown(filter.getData());
                default -> false;
            };
            if (!isKnown) {
                String packed = filter.getId() == BITSHUFFLE ? " with zstd" : "";
                String name = NAMES.getOrDefault(filter.getId(), filter.getName());
                return "a filter of its chunks is not available: name=" + name + packed + " id=" + filter.getId();
            }
        }
        return null;
    }

    /** Returns the bytes of a chunk; bit i of {@code skipped} is set if the chunk was written without filter i. */
    byte[] undo(ByteBuffer stored, BitSet skipped) {
        byte[] bytes = bytes(stored);
        for (int i = filters.size() - 1; i >= 0; i--) {
            if (!skipped.get(i)) {
                bytes = undo(filters.get(i), bytes, mostBytes(i, skipped));
            }
        }
        if (bytes.length != chunkBytes) {
            throw wrongLength(bytes.length);
        }
        return bytes;
    }

    /** Returns the bytes of a buffer, without a copy if its array has no others. */
    private static byte[] bytes(ByteBuffer stored) {
        if (stored.hasArray() && stored.arrayOffset() == 0 && stored.array().length == stored.remaining()) {
            return stored.array();
        }
        byte[] copy = new byte[stored.remaining()];
        stored.duplicate().get(copy);
        return copy;
    }

    /** Returns how long the data was before a filter, at most: filters of length before it only add checksums, others pack. */
    private int mostBytes(int filter, BitSet skipped) {
        long most = chunkBytes;
        for (int i = 0; i < filter; i++) {
            if (!skipped.get(i)) {
                int id = filters.get(i).getId();
                most += id == SHUFFLE ? 0 : id == FLETCHER32 ? CHECKSUM_BYTES : most / 2 + (1 << 16);
            }
        }
        return Math.toIntExact(most);
    }

    private static byte[] undo(FilterInfo filter, byte[] packed, int most) {
        int[] values = filter.getData();
        return switch (filter.getId()) {
            case DEFLATE -> inflate(packed, most);
            case SHUFFLE -> unshuffle(packed, value(values, 0));
            case FLETCHER32 -> withoutChecksum(packed);
            case LZF -> unpackLzf(packed, most);
            case LZ4 -> unpackLz4(packed, most);
            default -> Bitshuffle.undo(packed, values, most);
        };
    }

    private static int value(int[] values, int index) {
        if (index >= values.length) {
            throw new HdfException("a filter has only " + values.length + " values");
        }
        return values[index];
    }

    /** Returns whether inflating is all that a chunk needs. */
    boolean isDeflated(BitSet skipped) {
        return filters.size() == 1 && filters.get(0).getId() == DEFLATE && !skipped.get(0);
    }

    /** Inflates a chunk into a buffer of its length, which spares a copy. */
    void inflate(ByteBuffer stored, ByteBuffer target) {
        int length = inflate(stored, target, chunkBytes);
        if (length != chunkBytes) {
            throw wrongLength(length);
        }
    }

    private static byte[] inflate(byte[] packed, int most) {
        byte[] bytes = new byte[most];
        int length = inflate(ByteBuffer.wrap(packed), ByteBuffer.wrap(bytes), most);
        return length == most ? bytes : Arrays.copyOf(bytes, length);
    }

    private static int inflate(ByteBuffer packed, ByteBuffer target, int most) {
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(packed);
            int length = 0;
            while (!inflater.finished()) {
                int more = inflater.inflate(target);
                if (more == 0 && !inflater.finished()) {
                    throw new HdfException("a chunk unpacks to more than " + most + " bytes, or ends early");
                }
                length += more;
            }
            return length;
        } catch (DataFormatException e) {
            throw new HdfException("a chunk cannot be inflated", e);
        } finally {
            inflater.end();
        }
    }

    private HdfException wrongLength(int bytes) {
        return new HdfException("a chunk has " + bytes + " bytes, not " + chunkBytes);
    }

    private static byte[] unshuffle(byte[] shuffled, int itemBytes) {
        int items = itemBytes <= 1 ? 0 : shuffled.length / itemBytes;
        if (items <= 1) {
            return shuffled;
        }
        byte[] bytes = new byte[shuffled.length];
        Shuffle.bytes(shuffled, shuffled.length, itemBytes, bytes, 0);
        return bytes;
    }

    private static byte[] withoutChecksum(byte[] bytes) {
        int length = bytes.length - CHECKSUM_BYTES;
        if (length < 0) {
            throw new HdfException("a chunk has no checksum");
        }
        int found = (int) RawMessages.number(ByteBuffer.wrap(bytes, length, CHECKSUM_BYTES), CHECKSUM_BYTES);
        int expected = fletcher32(bytes, length);
        int swapped = (expected & 0x00ff00ff) << Byte.SIZE | (expected & 0xff00ff00) >>> Byte.SIZE;
        if (found != expected && found != swapped) { // the second as HDF5 1.6.2 and before wrote it
            throw new HdfException("the checksum of a chunk is wrong: found=" + Integer.toHexString(found)
                    + " expected=" + Integer.toHexString(expected));
        }
        return Arrays.copyOf(bytes, length);
    }

    /** Computes Fletcher's checksum of big-endian pairs of bytes. */
    private static int fletcher32(byte[] bytes, int length) {
        long low = 0;
        long high = 0;
        for (int i = 0; i < length; i += 2) {
            low += (bytes[i] & 0xff) << Byte.SIZE | (i + 1 < length ? bytes[i + 1] & 0xff : 0);
            high += low;
            if (i % SUMS_WITHOUT_FOLDING == 0) {
                low = fold(low);
                high = fold(high);
            }
        }
        return (int) (fold(high) << Short.SIZE | fold(low));
    }

    /** Returns a sum modulo 65,535, which stands for zero unless the sum is zero. */
    private static long fold(long sum) {
        return sum == 0 ? 0 : (sum - 1) % 0xffff + 1;
    }

    /** Unpacks runs of bytes and references to bytes before them. */
    private static byte[] unpackLzf(byte[] packed, int most) {
        byte[] bytes = new byte[most];
        int at = 0;
        try {
            for (int in = 0; in < packed.length; ) {
                int head = packed[in++] & 0xff;
                if (head < LZF_REFERENCE) {
                    System.arraycopy(packed, in, bytes, at, head + 1);
                    in += head + 1;
                    at += head + 1;
                    continue;
                }
                int length = head >>> 5;
                if (length == LZF_LONG) {
                    length += packed[in++] & 0xff;
                }
                int from = at - ((head & (LZF_REFERENCE - 1)) << Byte.SIZE) - (packed[in++] & 0xff) - 1;
                for (int end = at + length + 2; at < end; at++) {
                    bytes[at] = bytes[from++];
                }
            }
        } catch (IndexOutOfBoundsException e) {
            throw new HdfException("a chunk cannot be unpacked by LZF", e);
        }
        return at == most ? bytes : Arrays.copyOf(bytes, at);
    }

    /** Unpacks blocks behind a header of two lengths, each block behind its own; a block that is as long as unpacked is not packed. */
    private static byte[] unpackLz4(byte[] packed, int most) {
        ByteBuffer in = ByteBuffer.wrap(packed);
        long all = in.getLong();
        int blockBytes = in.getInt();
        requireLength(all, blockBytes, most);
        byte[] bytes = new byte[(int) all];
        for (int at = 0; at < bytes.length; ) {
            int length = Math.min(blockBytes, bytes.length - at);
            int packedLength = in.getInt();
            if (packedLength == length) {
                in.get(bytes, at, length);
            } else {
                unpackBlock(in, packedLength, bytes, at, length);
            }
            at += length;
        }
        return bytes;
    }

    static void requireLength(long all, int blockBytes, int most) {
        if (all < 0 || all > most || blockBytes <= 0) {
            throw new HdfException(
                    "a chunk claims " + all + " bytes in blocks of " + blockBytes + ", and has " + most + " at most");
        }
    }

    /** Unpacks one block of LZ4 from a buffer. */
    static void unpackBlock(ByteBuffer in, int packedLength, byte[] target, int at, int length) {
        if (packedLength < 0 || packedLength > in.remaining()) {
            throw new HdfException("a block of a chunk is longer than the chunk: bytes=" + packedLength);
        }
        try {
            int found = LZ4_BLOCKS.decompress(in, in.position(), packedLength, ByteBuffer.wrap(target), at, length);
            if (found != length) {
                throw new HdfException("a block of a chunk has " + found + " bytes, not " + length);
            }
        } catch (LZ4Exception e) {
            throw new HdfException("a block of a chunk cannot be unpacked by LZ4", e);
        }
        in.position(in.position() + packedLength);
    }
}
