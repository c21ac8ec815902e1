package dev.larder.readers.packed;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Unpacks LZ4 frames with blocks that refer to earlier blocks, as in Arrow; libraries for Java with native code support only independent
 * blocks. Skips checksums: frames of Arrow have none.
 *
 * <pre>
 *   magic, int32   flags   block size   [content size, int64]   check   { length, int32   block   [checksum, int32] } …   0, int32   [checksum, int32]
 * </pre>
 */
final class Lz4Stream extends InputStream {
    private static final int MAGIC = 0x184D2204;
    private static final int VERSION_MASK = 0xC0;
    private static final int VERSION = 0x40;
    private static final int HAS_BLOCK_CHECKSUMS = 0x10;
    private static final int HAS_CONTENT_SIZE = 0x08;
    private static final int HAS_CONTENT_CHECKSUM = 0x04;
    private static final int HAS_DICTIONARY = 0x01;
    private static final int BLOCK_CODE_SHIFT = 4;
    private static final int SMALLEST_BLOCK_CODE = 4;
    private static final int LARGEST_BLOCK_CODE = 7;

    /** The longest distance of a reference. */
    private static final int HISTORY_BYTES = 64 << 10;

    private static final int LONGEST_LOOP = 16;
    private static final int SHORTEST_MATCH = 4;

    private final InputStream packed;
    private final int flags;
    private final byte[] block;

    /** The last unpacked block, behind the {@link #HISTORY_BYTES} before it. */
    private final byte[] window;

    private int at;
    private int end;
    private boolean isEnded;

    /** Reads the head of a frame. */
    Lz4Stream(InputStream packed) throws IOException {
        this.packed = packed;
        if (readInt() != MAGIC) {
            throw new IOException("it is no LZ4 frame");
        }
        this.flags = readByte();
        int code = readByte() >>> BLOCK_CODE_SHIFT;
        if ((flags & VERSION_MASK) != VERSION
                || (flags & HAS_DICTIONARY) != 0
                || code < SMALLEST_BLOCK_CODE
                || code > LARGEST_BLOCK_CODE) {
            throw new IOException("its kind of LZ4 frame is not supported");
        }
        packed.skipNBytes((flags & HAS_CONTENT_SIZE) != 0 ? Long.BYTES + 1 : 1);
        this.block = new byte[1 << (2 * code + 8)];
        this.window = new byte[HISTORY_BYTES + block.length];
    }

    private int readByte() throws IOException {
        int value = packed.read();
        if (value < 0) {
            throw new EOFException("it ends within an LZ4 frame");
        }
        return value;
    }

    private int readInt() throws IOException {
        return readByte() | (readByte() << 8) | (readByte() << 16) | (readByte() << 24);
    }

    /** Unpacks the next block that is not empty; returns false at the end of the frame. */
    private boolean fill() throws IOException {
        while (at == end && !isEnded) {
            int length = readInt();
            boolean isPlain = length < 0;
            length &= Integer.MAX_VALUE;
            if (length == 0) {
                isEnded = true;
                packed.skipNBytes((flags & HAS_CONTENT_CHECKSUM) != 0 ? Integer.BYTES : 0);
            } else if (length > block.length || packed.readNBytes(block, 0, length) < length) {
                throw new IOException("a block of an LZ4 frame is longer than it can be");
            } else {
                int kept = Math.min(end, HISTORY_BYTES);
                System.arraycopy(window, end - kept, window, 0, kept);
                at = kept;
                if (isPlain) {
                    System.arraycopy(block, 0, window, kept, length);
                    end = kept + length;
                } else {
                    end = unpack(length, kept, Math.min(window.length, kept + block.length));
                }
                packed.skipNBytes((flags & HAS_BLOCK_CHECKSUMS) != 0 ? Integer.BYTES : 0);
            }
        }
        return at < end;
    }

    /** Unpacks a block to a place of the window, and returns the end of the unpacked bytes. */
    private int unpack(int length, int place, int limit) throws IOException {
        int from = 0;
        int to = place;
        while (from < length) {
            int token = block[from++] & 0xff;
            int literals = token >>> 4;
            if (literals == 15) {
                int more;
                do {
                    more = from < length ? block[from++] & 0xff : -1;
                    literals += more;
                } while (more == 255 && literals <= limit);
            }
            if (literals < 0 || literals > length - from || literals > limit - to) {
                throw malformed();
            }
            copyLiterals(from, to, literals);
            from += literals;
            to += literals;
            if (from == length) {
                return to;
            } else if (length - from < Short.BYTES) {
                throw malformed();
            }
            int distance = (block[from] & 0xff) | ((block[from + 1] & 0xff) << 8);
            from += Short.BYTES;
            int match = token & 15;
            if (match == 15) {
                int more;
                do {
                    more = from < length ? block[from++] & 0xff : -1;
                    match += more;
                } while (more == 255 && match <= limit);
            }
            match += SHORTEST_MATCH;
            if (distance == 0 || distance > to || match > limit - to) {
                throw malformed();
            }
            copyMatch(distance, to, match);
            to += match;
        }
        throw malformed(); // a block ends with literals
    }

    private void copyLiterals(int from, int to, int count) {
        if (count > LONGEST_LOOP) {
            System.arraycopy(block, from, window, to, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            window[to + i] = block[from + i];
        }
    }

    /** Copies earlier bytes of the window; the two ranges may overlap. */
    private void copyMatch(int distance, int to, int count) {
        if (distance >= count && count > LONGEST_LOOP) {
            System.arraycopy(window, to - distance, window, to, count);
        } else if (distance == 1) {
            Arrays.fill(window, to, to + count, window[to - 1]);
        } else {
            for (int i = to; i < to + count; i++) {
                window[i] = window[i - distance];
            }
        }
    }

    private static IOException malformed() {
        return new IOException("a block of an LZ4 frame is malformed");
    }

    @Override
    public int read() throws IOException {
        return fill() ? window[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        } else if (!fill()) {
            return -1;
        }
        int count = Math.min(length, end - at);
        System.arraycopy(window, at, target, offset, count);
        at += count;
        return count;
    }

    @Override
    public void close() throws IOException {
        packed.close();
    }
}
