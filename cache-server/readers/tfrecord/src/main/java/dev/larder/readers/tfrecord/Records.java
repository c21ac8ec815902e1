package dev.larder.readers.tfrecord;

import dev.larder.reader.BadSource;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Reads the records of one file, plain or gzipped, and compares their checksums.
 *
 * <pre>
 *   | length, u64 little | masked CRC32C of it, u32 | data | masked CRC32C of it, u32 |
 * </pre>
 */
final class Records implements AutoCloseable {
    private static final int HEAD_BYTES = Long.BYTES + Integer.BYTES;
    private static final int MASK_DELTA = 0xa282ead8;
    private static final int BUFFER_BYTES = 1 << 20;
    private static final int GROWTH_BYTES = 64 << 20;

    private final int file;
    private final InputStream in;
    private final byte[] head = new byte[HEAD_BYTES];
    private final byte[] tail = new byte[Integer.BYTES];
    private byte[] data = new byte[4096];
    private int length;
    private long offset;
    private long recordBytes;
    private long number = -1;

    private Records(int file, InputStream in) {
        this.file = file;
        this.in = in;
    }

    /** Opens a file. Unpacks it if it begins like gzip and not like TFRecord. The caller closes it. */
    static Records open(int file, Path path) throws IOException {
        InputStream in = open(path, file);
        try {
            in.mark(HEAD_BYTES);
            byte[] head = in.readNBytes(HEAD_BYTES);
            in.reset();
            boolean isPlain = head.length == HEAD_BYTES && isGood(head, 0, Long.BYTES, crcIn(head, Long.BYTES));
            boolean isGzip = !isPlain && head.length > 2 && head[0] == 0x1f && head[1] == (byte) 0x8b;
            return new Records(file, isGzip ? new GZIPInputStream(in, BUFFER_BYTES) : in);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    private static InputStream open(Path path, int file) throws IOException {
        try {
            return new BufferedInputStream(Files.newInputStream(path), BUFFER_BYTES);
        } catch (FileSystemException e) {
            throw BadSource.unreadable(file, "", e);
        }
    }

    /** Moves to the next record; returns false if there is none. */
    boolean next() throws IOException {
        offset += recordBytes;
        recordBytes = 0;
        try {
            int found = in.readNBytes(head, 0, HEAD_BYTES);
            if (found == 0) {
                return false;
            }
            requireGood(found == HEAD_BYTES, "it ends within the head of a record");
            requireGood(
                    isGood(head, 0, Long.BYTES, crcIn(head, Long.BYTES)), "the checksum of a record's length is wrong");
            long wanted = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getLong();
            requireGood(wanted >= 0 && wanted < Integer.MAX_VALUE - 64, "a record has " + wanted + " bytes");
            length = (int) wanted;
            readData();
            requireGood(
                    in.readNBytes(tail, 0, tail.length) == tail.length && isGood(data, 0, length, crcIn(tail, 0)),
                    "the checksum of a record is wrong");
            recordBytes = HEAD_BYTES + wanted + tail.length;
            number++;
            return true;
        } catch (EOFException | ZipException e) {
            throw BadSource.damaged(file, offset, "", "its compressed data is corrupt (" + BadSource.words(e) + ")");
        }
    }

    /** Grows the buffer step by step, because a wrong length may have a right checksum. */
    private void readData() throws IOException {
        int read = 0;
        while (read < length) {
            if (read == data.length || data.length < Math.min(length, GROWTH_BYTES)) {
                data = Arrays.copyOf(data, (int) Math.min(length, Math.max(2L * data.length, 64 << 10)));
                continue;
            }
            int step = in.readNBytes(data, read, Math.min(length, data.length) - read);
            requireGood(step > 0, "it ends after " + read + " of " + length + " bytes of a record");
            read += step;
        }
    }

    private void requireGood(boolean isGood, String otherwise) throws BadSource {
        if (!isGood) {
            throw BadSource.damaged(file, offset, "", otherwise);
        }
    }

    private static int crcIn(byte[] bytes, int at) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
    }

    private static boolean isGood(byte[] bytes, int from, int length, int masked) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, length);
        int value = (int) crc.getValue();
        return masked == ((value >>> 15) | (value << 17)) + MASK_DELTA;
    }

    /** Returns the bytes of the record, perhaps followed by others; valid until the next record. */
    byte[] data() {
        return data;
    }

    /** Returns the length of the record. */
    int length() {
        return length;
    }

    /** Returns the number of the record, from 0. */
    long number() {
        return number;
    }

    /** Returns the offset of the record in the unpacked data. */
    long offset() {
        return offset;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
