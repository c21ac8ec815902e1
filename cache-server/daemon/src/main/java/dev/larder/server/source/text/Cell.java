package dev.larder.server.source.text;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.Names;
import dev.larder.server.source.Refusal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** One value of a text file: UTF-8 between two places of a buffer, valid until the next value. Used by one thread. */
final class Cell {
    private static final int SHOWN_BYTES = 100;

    private final Path file;
    private ByteBuffer text = ByteBuffer.allocate(0);
    private byte[] bytes = text.array();
    private int start;
    private int end;
    private long line = 1;
    private boolean isString;
    private boolean isQuoted;

    Cell(Path file) {
        this.file = file;
    }

    void set(byte[] buffer, int newStart, int newEnd, boolean string) {
        if (buffer != bytes) {
            bytes = buffer;
            text = ByteBuffer.wrap(buffer);
        }
        start = newStart;
        end = newEnd;
        isString = string;
        isQuoted = false;
    }

    /** Sets a field of a table. */
    void setField(byte[] buffer, int newStart, int newEnd, boolean quoted) {
        set(buffer, newStart, newEnd, false);
        isQuoted = quoted;
    }

    /** Returns whether quotes surround the field of a table. */
    boolean isQuoted() {
        return isQuoted;
    }

    /** Returns the number of the first line of its row, from 1. */
    long line() {
        return line;
    }

    void setLine(long newLine) {
        line = newLine;
    }

    byte[] bytes() {
        return bytes;
    }

    int start() {
        return start;
    }

    int end() {
        return end;
    }

    /** Returns whether the file has a string here that is not a number, even if it looks like one. */
    boolean isString() {
        return isString;
    }

    boolean isEmpty() {
        return start == end;
    }

    /** Returns the bytes as a buffer that is reused for the next value. */
    ByteBuffer utf8() {
        return text.limit(end).position(start);
    }

    /** Returns the value and its column for messages. */
    String shown(int column, String name) {
        int length = Math.min(end - start, SHOWN_BYTES);
        String value = Names.printable(new String(bytes, start, length, StandardCharsets.UTF_8));
        return "field " + (column + 1) + (name.isEmpty() ? "" : " (" + Names.printable(name) + ")") + ": '" + value
                + "'";
    }

    /** Returns the refusal of its row, with the number of the first line. */
    LarderException refusal(String reason, String remedy) {
        return Refusal.atLine(file, line, reason, remedy);
    }

    LarderException refusal(String reason) {
        return refusal(reason, "repair the line");
    }

    @Override
    public String toString() {
        return new String(bytes, start, end - start, StandardCharsets.UTF_8);
    }
}
