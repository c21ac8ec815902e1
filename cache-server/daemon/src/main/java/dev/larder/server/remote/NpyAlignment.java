package dev.larder.server.remote;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.NpyHeader;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Moves the data of a fetched {@code .npy} file to the offset of a stored array, although the file arrives in one piece with its header. The file is
 * written with such an offset that the usual header of numpy ends there, and that header is then made longer. If the header has another length, the
 * file is only copied.
 */
final class NpyAlignment {
    private static final int USUAL_HEADER_BYTES = 128;

    /** The offset at which the file is written. */
    static final int SHIFT = StoreLayout.DATA_START - USUAL_HEADER_BYTES;

    private static final int LENGTH_OFFSET = 8;
    private static final int SHORT_START = LENGTH_OFFSET + Short.BYTES;
    private static final int LONG_START = LENGTH_OFFSET + Integer.BYTES;
    private static final byte VERSION_OF_LONG = 2;
    private static final int LONGEST_SHORT = 0xffff;
    private static final int MOST_HEADER_BYTES = 1 << 20;

    private NpyAlignment() {}

    /**
     * Completes a file that was written behind its place. One that is no array gets back the beginning that it came with, so that a scan
     * refuses it as any other, together with all that are like it.
     */
    static void complete(Path path) {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            try {
                NpyHeader header = NpyHeader.read(file.position(SHIFT), path.toString());
                write(file, longer(read(file, (int) header.dataOffset())));
            } catch (LarderException refused) {
                ByteBuffer beginning = read(file, (int) Math.min(MOST_HEADER_BYTES, file.size() - SHIFT));
                file.truncate(beginning.remaining());
                write(file, beginning);
            }
        } catch (IOException e) {
            throw Refusal.unreadable(path, 0, e);
        }
    }

    private static void write(FileChannel file, ByteBuffer beginning) throws IOException {
        for (int at = 0; beginning.hasRemaining(); ) {
            at += file.write(beginning, at);
        }
    }

    private static ByteBuffer read(FileChannel file, int length) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        int count = 0;
        while (header.hasRemaining() && count >= 0) {
            count = file.read(header, SHIFT + header.position());
        }
        return header.flip();
    }

    /** Returns the same header, filled up with spaces, so that it ends at the same offset. */
    private static ByteBuffer longer(ByteBuffer header) {
        int start = header.get(LENGTH_OFFSET - 2) == 1 ? SHORT_START : LONG_START;
        int end = SHIFT + header.limit();
        boolean isShort = start == SHORT_START && end - SHORT_START <= LONGEST_SHORT;
        ByteBuffer longer = ByteBuffer.allocate(end).order(ByteOrder.LITTLE_ENDIAN);
        longer.put(header.slice(0, LENGTH_OFFSET));
        if (isShort) {
            longer.putShort((short) (end - SHORT_START));
        } else {
            longer.put(LENGTH_OFFSET - 2, (byte) Math.max(VERSION_OF_LONG, header.get(LENGTH_OFFSET - 2)));
            longer.putInt(end - LONG_START);
        }
        byte[] words = new byte[header.limit() - start];
        header.get(start, words);
        longer.put(
                new String(words, StandardCharsets.ISO_8859_1).stripTrailing().getBytes(StandardCharsets.ISO_8859_1));
        while (longer.remaining() > 1) {
            longer.put((byte) ' ');
        }
        return longer.put((byte) '\n').flip();
    }
}
