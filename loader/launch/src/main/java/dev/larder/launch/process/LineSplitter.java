package dev.larder.launch.process;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;

/** Cuts bytes into lines. A line beyond the limit comes in pieces: nothing is lost, and no line fills the memory. */
final class LineSplitter {
    static final int LIMIT = 64 << 10;

    private static final int CONTINUATION_MASK = 0xc0;
    private static final int CONTINUATION = 0x80;
    private static final int LONGEST_CHARACTER = 4;

    private final boolean isError;
    private final Consumer<OutputLine> reader;
    private byte[] line = new byte[256];
    private int length;
    private boolean afterReturn;

    LineSplitter(boolean isError, Consumer<OutputLine> reader) {
        this.isError = isError;
        this.reader = reader;
    }

    /** Takes the next bytes. */
    void accept(byte[] bytes, int count) {
        for (int i = 0; i < count; i++) {
            accept(bytes[i]);
        }
    }

    private void accept(byte next) {
        if (next == '\n') {
            give(false);
            return;
        }
        if (afterReturn) {
            give(true);
        }
        if (next == '\r') {
            afterReturn = true;
            return;
        }
        if (length == LIMIT) {
            cut();
        }
        if (length == line.length) {
            line = Arrays.copyOf(line, Math.min(2 * length, LIMIT));
        }
        line[length++] = next;
    }

    /** Gives what follows the last line's end, if anything does. */
    void end() {
        if (length > 0) {
            give(false);
        }
    }

    private void give(boolean isOverwritten) {
        String text = new String(line, 0, length, StandardCharsets.UTF_8);
        length = 0;
        afterReturn = false;
        reader.accept(new OutputLine(text, isError, isOverwritten));
    }

    /** Gives a piece that ends with a whole character, and keeps the bytes of the next one. */
    private void cut() {
        int end = length;
        while (end > length - LONGEST_CHARACTER && isContinuation(line[end - 1])) {
            end--;
        }
        end--; // the character that may not be whole begins here
        byte[] rest = Arrays.copyOfRange(line, end, length);
        length = end;
        give(false);
        System.arraycopy(rest, 0, line, 0, rest.length);
        length = rest.length;
    }

    private static boolean isContinuation(byte b) {
        return (b & CONTINUATION_MASK) == CONTINUATION;
    }
}
