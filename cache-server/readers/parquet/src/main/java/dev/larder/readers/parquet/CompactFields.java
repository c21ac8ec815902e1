package dev.larder.readers.parquet;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Reads the fields of a header in Thrift's compact protocol. The library takes memory for any length that a text or a list claims; here none may
 * exceed the bytes that are left.
 */
final class CompactFields {
    private static final int DEEPEST = 32;
    private static final int LONG_LIST = 15;

    private final ByteBuffer in;

    /** Takes a number or a boolean; {@code outer} is the field of the struct, or list of structs, around it, or 0 in the header itself. */
    interface Numbers {
        void take(int outer, int id, long value) throws IOException;
    }

    /** Starts at the position of a buffer. */
    CompactFields(ByteBuffer in) {
        this.in = in;
    }

    /** Reads a struct, and leaves the position behind it. */
    void struct(Numbers numbers) throws IOException {
        struct(numbers, 0, 0);
    }

    /** Fails if a struct is malformed. */
    void requireSound() throws IOException {
        struct(CompactFields::ignore);
    }

    private void struct(Numbers numbers, int outer, int depth) throws IOException {
        int id = 0;
        for (int head = next(); head != 0; head = next()) {
            int step = head >>> 4;
            id = step == 0 ? (int) zigzag() : id + step;
            value(numbers, outer, id, head & 15, depth);
        }
    }

    private void value(Numbers numbers, int outer, int id, int type, int depth) throws IOException {
        if (depth > DEEPEST) {
            throw new IOException("its fields are deeper than " + DEEPEST);
        }
        switch (type) {
            case 1, 2 -> numbers.take(outer, id, 2 - type); // a boolean, which is all in its type
            case 3 -> next();
            case 4, 5, 6 -> numbers.take(outer, id, zigzag());
            case 7 -> skip(Double.BYTES);
            case 8 -> skip(varint());
            case 9, 10 -> list(depth, outer == 0 ? numbers : CompactFields::ignore, id);
            case 11 -> map(depth);
            case 12 -> struct(outer == 0 ? numbers : CompactFields::ignore, id, depth + 1);
            default -> throw new IOException("a field has an unknown type: type=" + type);
        }
    }

    private static void ignore(int outer, int id, long value) {}

    private void list(int depth, Numbers numbers, int id) throws IOException {
        int head = next();
        long count = head >>> 4 == LONG_LIST ? varint() : head >>> 4;
        requireLeft(count); // each takes a byte at least
        for (long i = 0; i < count; i++) {
            element(head & 15, depth, numbers, id);
        }
    }

    private void map(int depth) throws IOException {
        long count = varint();
        if (count == 0) {
            return;
        }
        int types = next();
        requireLeft(count);
        for (long i = 0; i < count; i++) {
            element(types >>> 4, depth, CompactFields::ignore, 0);
            element(types & 15, depth, CompactFields::ignore, 0);
        }
    }

    private void element(int type, int depth, Numbers numbers, int id) throws IOException {
        if (type == 1 || type == 2) {
            next(); // here a boolean takes a byte
        } else if (type == 12) {
            struct(numbers, id, depth + 1);
        } else {
            value(CompactFields::ignore, -1, 0, type, depth + 1);
        }
    }

    private void skip(long length) throws IOException {
        requireLeft(length);
        in.position(in.position() + (int) length);
    }

    private void requireLeft(long length) throws IOException {
        if (length < 0 || length > in.remaining()) {
            throw new EOFException(
                    "a text or list is longer than the bytes left: length=" + length + " left=" + in.remaining());
        }
    }

    private int next() throws IOException {
        requireLeft(1);
        return in.get() & 0xff;
    }

    private long zigzag() throws IOException {
        long value = varint();
        return value >>> 1 ^ -(value & 1);
    }

    private long varint() throws IOException {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            int next = next();
            value |= (long) (next & 0x7f) << shift;
            if (next < 0x80) {
                return value;
            }
        }
        throw new IOException("a number has more than ten bytes");
    }
}
