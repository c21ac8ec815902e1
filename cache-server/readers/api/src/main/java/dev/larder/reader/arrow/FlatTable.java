package dev.larder.reader.arrow;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A table of FlatBuffers. Fields have numbers, and those with their default value are left out. Places are not checked: one outside of the buffer
 * is an {@link IndexOutOfBoundsException}, so the buffer must have nothing else in it.
 */
record FlatTable(ByteBuffer in, int at) {
    private static final int ABSENT = 0;

    /** Returns the outermost table of a message. */
    static FlatTable root(ByteBuffer message) {
        ByteBuffer in = message.slice().order(ByteOrder.LITTLE_ENDIAN);
        return new FlatTable(in, in.getInt(0));
    }

    private int place(int field) {
        int offsets = at - in.getInt(at);
        int entry = 2 * Short.BYTES + field * Short.BYTES;
        int offset = entry < shortAt(offsets) ? shortAt(offsets + entry) : 0;
        return offset == 0 ? ABSENT : at + offset;
    }

    private int shortAt(int place) {
        return in.getShort(place) & 0xffff;
    }

    private int follow(int place) {
        return Math.addExact(place, in.getInt(place));
    }

    int byteOf(int field) {
        int place = place(field);
        return place == ABSENT ? 0 : in.get(place);
    }

    int shortOf(int field, int orElse) {
        int place = place(field);
        return place == ABSENT ? orElse : in.getShort(place);
    }

    int intOf(int field, int orElse) {
        int place = place(field);
        return place == ABSENT ? orElse : in.getInt(place);
    }

    long longOf(int field) {
        int place = place(field);
        return place == ABSENT ? 0 : in.getLong(place);
    }

    @Nullable
    FlatTable table(int field) {
        int place = place(field);
        return place == ABSENT ? null : new FlatTable(in, follow(place));
    }

    /** Returns how many tables a list has. */
    int count(int field) {
        int place = place(field);
        return place == ABSENT ? 0 : in.getInt(follow(place));
    }

    /** Returns a table of a list that has as many. */
    FlatTable item(int field, int index) {
        int list = follow(place(field));
        return new FlatTable(in, follow(list + Integer.BYTES * (index + 1)));
    }

    /** Returns the length of a text in bytes. */
    int textBytes(int field) {
        return count(field);
    }

    /** Returns a text; empty if there is none. */
    String text(int field) {
        int place = place(field);
        if (place == ABSENT) {
            return "";
        }
        int text = follow(place);
        return StandardCharsets.UTF_8
                .decode(in.slice(text + Integer.BYTES, in.getInt(text)))
                .toString();
    }
}
