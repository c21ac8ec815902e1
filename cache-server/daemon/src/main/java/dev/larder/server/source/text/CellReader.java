package dev.larder.server.source.text;

import dev.larder.error.LarderException;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;

/**
 * Splits UTF-8 into the fields of rows (RFC 4180), or into whole lines. A field that is too long to be one is refused before it fills the heap.
 * Used by one thread.
 */
final class CellReader {
    /** Longest field, or line, in bytes. */
    static final int MAX_BYTES = 16 << 20;

    private static final int BUFFER_BYTES = 64 << 10;
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};
    private static final int LONGEST_CHARACTER_BYTES = 4;
    private static final byte QUOTE = '"';
    private static final long SIGN_BITS = 0x8080808080808080L;

    private final Path file;
    private final InputStream in;
    private final BooleanSupplier isCancelled;
    private final boolean hasFields;
    private final byte separator;
    private final byte highestEnd;
    private final Cell cell;
    private final CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    private final CharBuffer decoded = CharBuffer.allocate(8 << 10);

    private byte[] buffer = new byte[BUFFER_BYTES];
    private ByteBuffer view = ByteBuffer.wrap(buffer);
    private int start;
    private int at;
    /** End of the checked bytes. The start of a character may follow, up to {@code filled}, if its rest is not read yet. */
    private int limit;

    private int filled;
    private boolean isEnd;

    private long line = 1;
    private boolean isLast = true;

    private CellReader(Path file, InputStream in, char separator, boolean hasFields, BooleanSupplier isCancelled) {
        this.file = file;
        this.in = in;
        this.isCancelled = isCancelled;
        this.hasFields = hasFields;
        this.separator = (byte) separator;
        this.highestEnd = (byte) Math.max(separator, '\r');
        this.cell = new Cell(file);
    }

    /** Splits rows that end in LF, CR LF or CR; empty lines are skipped. */
    static CellReader ofRows(Path file, InputStream in, char separator, BooleanSupplier isCancelled) {
        return new CellReader(file, in, separator, true, isCancelled);
    }

    /** Splits lines that end in LF or CR LF. */
    static CellReader ofLines(Path file, InputStream in, BooleanSupplier isCancelled) {
        return new CellReader(file, in, '\n', false, isCancelled);
    }

    /** Returns the field that was read last, always the same object. */
    Cell cell() {
        return cell;
    }

    /** Returns whether the field that was read last ends its row. */
    boolean isLast() {
        return isLast;
    }

    /** Reads the next field; returns false after the last. */
    boolean next() throws IOException {
        boolean isFirst = isLast;
        do {
            start = at;
            if (isFirst) {
                cell.setLine(line);
            }
            if (at == limit && !fill()) {
                cell.set(buffer, start, at, false);
                isLast = true;
                return !isFirst;
            }
            if (hasFields && buffer[at] == QUOTE) {
                readQuoted();
            } else {
                readPlain();
            }
        } while (hasFields && isFirst && isLast && cell.isEmpty() && !cell.isQuoted());
        return true;
    }

    private void readPlain() throws IOException {
        do {
            byte[] bytes = buffer;
            int end = limit;
            int i = at;
            for (; i < end; i++) {
                byte c = bytes[i];
                if (c <= highestEnd && isEnd(c)) {
                    at = i;
                    end(i, false);
                    return;
                }
            }
            at = i;
        } while (fill());
        end(at, false);
    }

    private boolean isEnd(byte c) {
        return c == separator || c == '\n' || (c == '\r' && hasFields);
    }

    /** Reads a field in quotes, and moves its bytes together over the first of two quotes. */
    private void readQuoted() throws IOException {
        at++;
        int length = 0;
        while (true) {
            if (at == limit && !fill()) {
                throw cell.refusal(
                        "a quoted field has no closing quote", "close it, or write \"\" for a quote within a field");
            }
            byte c = buffer[at++];
            if (c == QUOTE) {
                if ((at == limit && !fill()) || buffer[at] != QUOTE) {
                    break;
                }
                at++;
            } else if (c == '\n' || (c == '\r' && !isNewline(0))) {
                line++;
            }
            buffer[start + 1 + length++] = c;
        }
        if (at < limit && !isEnd(buffer[at])) {
            throw cell.refusal("more follows the closing quote of a field", "write \"\" for a quote within a field");
        }
        end(start + 1 + length, true);
    }

    /** Ends the field at the separator or the end of the line, and moves behind it. */
    private void end(int fieldEnd, boolean quoted) throws IOException {
        int length = fieldEnd - start;
        isLast = at == limit || !hasFields || buffer[at] != separator;
        if (isLast && at < limit) {
            if (buffer[at] == '\r' && isNewline(1)) {
                at++;
            }
            line++;
        }
        at = Math.min(at + 1, limit);
        int from = quoted ? start + 1 : start;
        int to = start + length;
        boolean dropsReturn = !hasFields && to > from && buffer[to - 1] == '\r';
        cell.setField(buffer, from, dropsReturn ? to - 1 : to, quoted);
    }

    private boolean isNewline(int distance) throws IOException {
        if (at + distance == limit) {
            fill();
        }
        return at + distance < limit && buffer[at + distance] == '\n';
    }

    /** Reads more behind the field that is being read, which moves to the start of the buffer; returns false at the end. */
    private boolean fill() throws IOException {
        if (isEnd) {
            return false;
        } else if (isCancelled.getAsBoolean()) {
            throw new CancellationException("cancelled while scanning");
        }
        boolean isBeginning = limit == 0;
        System.arraycopy(buffer, start, buffer, 0, filled - start);
        at -= start;
        limit -= start;
        filled -= start;
        start = 0;
        if (buffer.length - filled < LONGEST_CHARACTER_BYTES) {
            if (buffer.length >= MAX_BYTES) {
                boolean isList = !hasFields && (buffer[0] == '[' || buffer[0] == '{');
                throw cell.refusal(
                        "the line is longer than " + MAX_BYTES + " bytes",
                        isList ? JsonLines.ONE_A_LINE : "repair the line");
            }
            buffer = Arrays.copyOf(buffer, Math.min(MAX_BYTES, 2 * buffer.length));
            view = ByteBuffer.wrap(buffer);
        }
        int read = in.readNBytes(buffer, filled, buffer.length - filled);
        isEnd = filled + read < buffer.length;
        filled += read;
        limit = requireUtf8(limit);
        if (isBeginning && Arrays.equals(buffer, 0, Math.min(limit, 3), BYTE_ORDER_MARK, 0, 3)) {
            start = 3;
            at = 3;
        }
        return at < limit;
    }

    /** Returns the end of the whole characters from {@code i} on. */
    private int requireUtf8(int i) {
        while (i + Long.BYTES <= filled && (view.getLong(i) & SIGN_BITS) == 0) {
            i += Long.BYTES;
        }
        ByteBuffer rest = ByteBuffer.wrap(buffer, i, filled - i);
        while (true) {
            var result = decoder.decode(rest, decoded.clear(), isEnd);
            if (result.isError()) {
                throw notUtf8(rest.position());
            } else if (result.isUnderflow()) {
                break;
            }
        }
        decoder.reset();
        return rest.position();
    }

    private LarderException notUtf8(int position) {
        long ends = 0;
        for (int i = at; i < position; i++) {
            ends += buffer[i] == '\n' ? 1 : 0;
        }
        return Refusal.atLine(
                file,
                line + ends,
                "it is not UTF-8 text",
                "convert it, as in iconv -f ISO-8859-1 -t UTF-8 OLD >NEW if it is Latin-1");
    }
}
