package dev.larder.server.source.text;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads lines that end in LF or CR LF; a line that is too long to be one is refused before it fills the heap. */
public final class LineReader {
    public static final int MAX_LENGTH = 4 << 20;

    private static final int BUFFER_LENGTH = 16 << 10;
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private final Path file;
    private final Reader in;
    private final char[] buffer = new char[BUFFER_LENGTH];
    private final StringBuilder line = new StringBuilder();
    private int position;
    private int limit;
    private long number;

    LineReader(Path file, Reader in) {
        this.file = file;
        this.in = in;
    }

    /** Returns the next line without its end; null after the last. */
    @Nullable
    String next() throws IOException {
        line.setLength(0);
        boolean some = false;
        while (position < limit || fill()) {
            some = true;
            int end = position;
            while (end < limit && buffer[end] != '\n') {
                end++;
            }
            line.append(buffer, position, end - position);
            requireShort();
            position = end + 1;
            if (end < limit) {
                break;
            }
        }
        if (!some) {
            return null;
        }
        number++;
        return text();
    }

    private String text() {
        int length = line.length();
        boolean isMarked = number == 1 && length > 0 && line.charAt(0) == BYTE_ORDER_MARK;
        int end = length > 0 && line.charAt(length - 1) == '\r' ? length - 1 : length;
        return line.substring(isMarked ? 1 : 0, end);
    }

    private boolean fill() throws IOException {
        position = 0;
        limit = Math.max(0, in.read(buffer, 0, buffer.length));
        return limit > 0;
    }

    private void requireShort() {
        if (line.length() > MAX_LENGTH) {
            throw refusal(file, number + 1, "the line is longer than " + MAX_LENGTH + " characters");
        }
    }

    /** Returns the number of the line that was read last, from 1. */
    long number() {
        return number;
    }

    static LarderException refusal(Path file, long line, String reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                .with("file", file)
                .with("line", line)
                .with("reason", reason)
                .remedy("repair the line");
    }
}
