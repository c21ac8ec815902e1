package dev.larder.readers.zarr;

import dev.larder.reader.chunks.Shuffle;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Unpacks frames of Blosc 1, as numcodecs writes them:
 *
 * <pre>
 *  0 version   1 version of the codec   2 flags   3 bytes of an element   4 length   8 length of a block   12 length of the frame
 * 16 the place of each block in the frame, then the blocks: each one piece, or one for each byte of an element, behind its length
 * </pre>
 *
 * <p>All numbers are little-endian. A piece that is as long as unpacked is not packed.
 */
final class Blosc {
    private static final int VERSION = 2;
    private static final int HEADER_BYTES = 16;
    private static final int SHUFFLED = 1;
    private static final int COPIED = 1 << 1;
    private static final int BITS_SHUFFLED = 1 << 2;
    private static final int NEVER_SPLIT = 1 << 4;
    private static final int CODEC_SHIFT = 5;

    private static final int LZ = 0;
    private static final int LZ4 = 1;
    private static final int ZLIB = 3;
    private static final int ZSTD = 4;

    /** Blocks are split only for elements of at most so many bytes, and into pieces of at least so many. */
    private static final int MOST_SPLITS = 16;

    private static final int LEAST_PIECE_BYTES = 128;

    private final byte[] frame;
    private final ByteBuffer in;
    private final int flags;
    private final int itemBytes;
    private final int blockBytes;

    private Blosc(byte[] frame, ByteBuffer in, int blockBytes) {
        this.frame = frame;
        this.in = in;
        this.flags = frame[2] & 0xff;
        this.itemBytes = Math.max(1, frame[3] & 0xff);
        this.blockBytes = blockBytes;
    }

    static byte[] undo(byte[] frame, int most) throws IOException {
        if (frame.length < HEADER_BYTES) {
            throw new IOException("Blosc: it has only " + frame.length + " bytes");
        }
        ByteBuffer in = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
        int length = in.getInt(4);
        int blockBytes = in.getInt(8);
        int packed = in.getInt(12);
        if (frame[0] != VERSION) {
            throw new IOException("Blosc: its version is " + frame[0] + ", not " + VERSION);
        } else if (length < 0 || length > most) {
            throw Unpackers.tooLong(most);
        } else if (packed < HEADER_BYTES || packed > frame.length || (blockBytes <= 0 && length > 0)) {
            throw new IOException(
                    "Blosc: it has " + frame.length + " bytes, and claims " + packed + " with blocks of " + blockBytes);
        }
        return new Blosc(frame, in.limit(packed), blockBytes).unpack(length);
    }

    private byte[] unpack(int length) throws IOException {
        if ((flags & COPIED) != 0) {
            if (length > in.limit() - HEADER_BYTES) {
                throw outside();
            }
            return Arrays.copyOfRange(frame, HEADER_BYTES, HEADER_BYTES + length);
        }
        byte[] bytes = new byte[length];
        byte[] block = new byte[Math.min(blockBytes, length)];
        for (int at = 0, number = 0; at < length; at += block.length, number++) {
            int place = HEADER_BYTES + number * Integer.BYTES;
            unpackBlock(number(place), block, bytes, at, Math.min(block.length, length - at));
        }
        return bytes;
    }

    private void unpackBlock(int from, byte[] block, byte[] target, int at, int length) throws IOException {
        boolean isShuffled = (flags & SHUFFLED) != 0 && itemBytes > 1;
        boolean hasShuffledBits = (flags & BITS_SHUFFLED) != 0 && blockBytes >= itemBytes;
        boolean isWhole = length == blockBytes;
        int pieces = (flags & NEVER_SPLIT) == 0
                        && itemBytes <= MOST_SPLITS
                        && blockBytes / itemBytes >= LEAST_PIECE_BYTES
                        && isWhole
                ? itemBytes
                : 1;
        int pieceBytes = length / pieces;
        if (pieceBytes * pieces != length) {
            throw new IOException("Blosc: a block of " + length + " bytes has " + pieces + " pieces");
        }
        int start = from;
        for (int piece = 0; piece < pieces; piece++) {
            int packed = number(start);
            start += Integer.BYTES;
            if (packed < 0 || packed > in.limit() - start) {
                throw outside();
            }
            unpackPiece(start, packed, block, piece * pieceBytes, pieceBytes);
            start += packed;
        }
        int items = length / itemBytes;
        if (isShuffled) {
            Shuffle.bytes(block, length, itemBytes, target, at);
        } else if (hasShuffledBits && items % Shuffle.TOGETHER == 0) {
            Shuffle.bits(block, items, itemBytes, target, at);
            int rest = items * itemBytes;
            System.arraycopy(block, rest, target, at + rest, length - rest);
        } else {
            System.arraycopy(block, 0, target, at, length);
        }
    }

    private int number(int place) throws IOException {
        if (place < HEADER_BYTES || place > in.limit() - Integer.BYTES) {
            throw outside();
        }
        return in.getInt(place);
    }

    private static IOException outside() {
        return new IOException("Blosc: a part is outside of the frame");
    }

    private void unpackPiece(int from, int packed, byte[] target, int at, int length) throws IOException {
        if (packed == length) {
            System.arraycopy(frame, from, target, at, length);
            return;
        }
        int codec = flags >>> CODEC_SHIFT;
        int found = switch (codec) {
            case LZ -> BloscLz.unpack(in.slice(from, packed), target, at, length);
            case LZ4 -> Unpackers.unpackLz4(frame, from, packed, target, at, length);
            case ZLIB -> inflate(from, packed, target, at, length);
            case ZSTD -> Unpackers.unpackZstd(frame, from, packed, target, at, length);
            default ->
                throw new IOException("Blosc: its codec is number " + codec + ": snappy is 2, others are unknown");
        };
        if (found != length) {
            throw new IOException("Blosc: a piece unpacks to " + found + " bytes, not " + length);
        }
    }

    private int inflate(int from, int packed, byte[] target, int at, int length) throws IOException {
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(frame, from, packed);
            int found = 0;
            while (found < length && !inflater.finished()) {
                int more = inflater.inflate(target, at + found, length - found);
                if (more == 0 && !inflater.finished()) {
                    break;
                }
                found += more;
            }
            return found;
        } catch (DataFormatException e) {
            throw new IOException("Blosc: a piece cannot be inflated", e);
        } finally {
            inflater.end();
        }
    }
}
