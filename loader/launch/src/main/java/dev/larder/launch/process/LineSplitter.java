package dev.larder.launch.process;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Cuts bytes into lines, and gives those of one read together: a reader that shows them then writes once. A line beyond the limit comes in
 * pieces: nothing is lost, and no line fills the memory.
 */
final class LineSplitter {
    static final int LIMIT = 64 << 10;

    /** As much as a page of a pipe: a reader that is slow, but not stuck, takes so much within the patience of a pump. */
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

    /** Takes the next bytes, and gives the lines that they end. */
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

    /** Gives what follows the last line's end, if anything does. */
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

    /** Ends a piece before the last character, which may not be whole, and begins the next piece with it. */
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
