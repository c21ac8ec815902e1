package dev.larder.readers.tfrecord;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Walks through a {@code tf.train.Example}, in the wire format of protocol buffers:
 *
 * <pre>
 *   Example   { Features features = 1; }
 *   Features  { map&lt;string, Feature&gt; feature = 1; }
 *   Feature   { oneof { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
 *   BytesList { repeated bytes value = 1; }    FloatList, Int64List { repeated float / int64 value = 1 [packed]; }
 * </pre>
 *
 * No length may exceed the bytes that are left. An unknown field is refused, because it may hold data: a {@code tf.train.SequenceExample}
 * differs from an Example only in its field 2, which holds its feature lists.
 */
final class Example {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int BYTES = 2;
    private static final int FIXED32 = 5;

    private final ByteBuffer in;

    /** Reports bytes that are not an Example. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1;

        Malformed(String reason) {
            super(reason);
        }
    }

    /** The kinds of a feature, in the order of their fields. */
    enum Kind {
        BYTES,
        FLOATS,
        INTEGERS
    }

    /** Receives the features of a record. */
    interface Visitor {
        /** Begins a feature, {@code kind} null if nothing is set; returns whether its values are wanted. */
        boolean feature(String name, @Nullable Kind kind) throws Malformed;

        void integer(long value) throws Malformed;

        /** Takes the bits of a float. */
        void floating(int bits) throws Malformed;

        void bytes(byte[] array, int from, int length) throws Malformed;
    }

    private Example(byte[] bytes, int length) {
        this.in = ByteBuffer.wrap(bytes, 0, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Visits all features of a record. */
    static void visit(byte[] bytes, int length, Visitor visitor) throws Malformed {
        Example example = new Example(bytes, length);
        example.each(length, (number, wire, end) -> {
            if (number == 2 && wire == BYTES) {
                throw new Malformed("it has feature_lists, as a tf.train.SequenceExample has");
            }
            requireKnown(number == 1 && wire == BYTES, number, wire, "an Example");
            example.each(end, (inner, innerWire, entryEnd) -> {
                requireKnown(inner == 1 && innerWire == BYTES, inner, innerWire, "Features");
                example.entry(entryEnd, visitor);
            });
        });
    }

    private static void requireKnown(boolean isKnown, int number, int wire, String message) throws Malformed {
        if (!isKnown) {
            throw new Malformed(message + " has no field " + number + " of wire type " + wire);
        }
    }

    private interface Field {
        /** Takes a field. The buffer is at its value, which ends at {@code end}. */
        void take(int number, int wire, int end) throws Malformed;
    }

    /** Visits each field up to an end, and skips unread bytes. */
    private void each(int end, Field field) throws Malformed {
        while (in.position() < end) {
            long tag = varint(end);
            int wire = (int) tag & 7;
            int valueEnd = valueEnd(wire, end);
            int number = (int) Math.min(tag >>> 3, Integer.MAX_VALUE);
            field.take(number, wire, valueEnd);
            in.position(valueEnd);
        }
    }

    private int valueEnd(int wire, int end) throws Malformed {
        long length;
        switch (wire) {
            case VARINT -> {
                int start = in.position();
                varint(end);
                int after = in.position();
                in.position(start);
                return after;
            }
            case FIXED64 -> length = Long.BYTES;
            case FIXED32 -> length = Integer.BYTES;
            case BYTES -> length = varint(end);
            default -> throw new Malformed("wire type " + wire);
        }
        if (length < 0 || length > end - in.position()) {
            throw new Malformed(
                    "a field has more bytes than are left: bytes=" + length + " left=" + (end - in.position()));
        }
        return in.position() + (int) length;
    }

    private long varint(int end) throws Malformed {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            if (in.position() >= end) {
                throw new Malformed("it ends within a number");
            }
            byte next = in.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new Malformed("a number of more than ten bytes");
    }

    /** Reads the name and the feature of an entry, whichever comes first. */
    private void entry(int end, Visitor visitor) throws Malformed {
        String[] name = {""};
        int[] feature = {-1, -1};
        each(end, (number, wire, fieldEnd) -> {
            requireKnown((number == 1 || number == 2) && wire == BYTES, number, wire, "an entry of Features");
            if (number == 1) {
                name[0] = new String(in.array(), in.position(), fieldEnd - in.position(), StandardCharsets.UTF_8);
            } else if (feature[0] >= 0) {
                throw new Malformed("feature " + name[0] + " is there twice");
            } else {
                feature[0] = in.position();
                feature[1] = fieldEnd;
            }
        });
        if (feature[0] < 0) {
            visitor.feature(name[0], null);
            return;
        }
        in.position(feature[0]);
        int[] lists = {0};
        each(feature[1], (number, wire, listEnd) -> {
            requireKnown(wire == BYTES && number >= 1 && number <= 3, number, wire, "a Feature");
            lists[0]++;
            Kind kind = Kind.values()[number - 1];
            if (visitor.feature(name[0], kind)) {
                list(kind, listEnd, visitor);
            }
        });
        if (lists[0] == 0) {
            visitor.feature(name[0], null);
        }
        in.position(end);
    }

    private void list(Kind kind, int end, Visitor visitor) throws Malformed {
        each(end, (number, wire, valueEnd) -> {
            requireKnown(number == 1 && isOf(kind, wire), number, wire, "a list of " + kind);
            if (kind == Kind.BYTES) {
                visitor.bytes(in.array(), in.position(), valueEnd - in.position());
            } else if (kind == Kind.FLOATS) {
                if ((valueEnd - in.position()) % Float.BYTES != 0) {
                    throw new Malformed("a list of floats of " + (valueEnd - in.position()) + " bytes");
                }
                while (in.position() < valueEnd) {
                    visitor.floating(in.getInt());
                }
            } else {
                while (in.position() < valueEnd) {
                    visitor.integer(varint(valueEnd));
                }
            }
        });
    }

    /** Returns whether values of a kind can have a wire type: numbers stand alone or packed. */
    private static boolean isOf(Kind kind, int wire) {
        return wire == BYTES || (kind == Kind.FLOATS && wire == FIXED32) || (kind == Kind.INTEGERS && wire == VARINT);
    }
}
