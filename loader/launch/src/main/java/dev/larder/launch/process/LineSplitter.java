package dev.larder.launch.process;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Splits bytes into lines, and emits those of one read together, so that a reader can show them by one write. A line beyond the limit is
 * emitted in pieces: no byte is lost, and no line fills the memory.
 */
final class LineSplitter {
    static final int LIMIT = 64 << 10;

    /** The size of a page of a pipe: a slow reader that is not stuck handles this within the patience of a pump. */
    private static final int BATCH_LENGTH = 4 << 10;

    private static final int CONTINUATION_MASK = 0xc0;
    private static final int CONTINUATION = 0x80;
    private static final int LONGEST_CHARACTER = 4;

    private final boolean isError;
    private final Consumer<List<OutputLine>> reader;
    private byte[] line = new byte[256];
    private int length;
    private boolean afterReturn;
    private List<OutputLine> batch = new ArrayList<>();
    private int batchLength;

    LineSplitter(boolean isError, Consumer<List<OutputLine>> reader) {
        this.isError = isError;
        this.reader = reader;
    }

    /** Adds bytes, and emits the lines that end in them. */
    void accept(byte[] bytes, int count) {
        int begin = 0;
        for (int at = 0; at < count; at++) {
            byte next = bytes[at];
            if (afterReturn && next != '\n') {
                end(true);
            }
            if (next == '\n' || next == '\r') {
                append(bytes, begin, at);
                begin = at + 1;
                afterReturn = next == '\r';
                if (next == '\n') {
                    end(false);
                }
            }
        }
        append(bytes, begin, count);
        give();
    }

    /** Emits the rest after the end of the last line, if there is any. */
    void end() {
        if (length > 0) {
            end(false);
        }
        give();
    }

    private void append(byte[] bytes, int begin, int end) {
        for (int at = begin; at < end; ) {
            if (length == LIMIT) {
                cut();
            }
            int count = Math.min(end - at, LIMIT - length);
            if (length + count > line.length) {
                line = Arrays.copyOf(line, Math.min(Math.max(2 * line.length, length + count), LIMIT));
            }
            System.arraycopy(bytes, at, line, length, count);
            length += count;
            at += count;
        }
    }

    private void end(boolean isOverwritten) {
        batch.add(new OutputLine(new String(line, 0, length, StandardCharsets.ISO_8859_1), isError, isOverwritten));
        batchLength += length + 1;
        length = 0;
        afterReturn = false;
        if (batchLength >= BATCH_LENGTH) {
            give();
        }
    }

    private void give() {
        if (!batch.isEmpty()) {
            List<OutputLine> given = batch;
            batch = new ArrayList<>();
            batchLength = 0;
            reader.accept(given);
        }
    }

    /** Ends a piece before the last character, which may be incomplete and begins the next piece. */
    private void cut() {
        int end = length - 1;
        while (end > length - LONGEST_CHARACTER && isContinuation(line[end])) {
            end--;
        }
        byte[] rest = Arrays.copyOfRange(line, end, length);
        length = end;
        end(false);
        System.arraycopy(rest, 0, line, 0, rest.length);
        length = rest.length;
    }

    private static boolean isContinuation(byte b) {
        return (b & CONTINUATION_MASK) == CONTINUATION;
    }
}
