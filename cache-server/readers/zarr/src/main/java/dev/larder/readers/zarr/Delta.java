package dev.larder.readers.zarr;

import dev.larder.reader.BadSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Adds up the differences of numbers, as numpy's {@code cumsum} does.
 *
 * @param sum the type of the numbers
 * @param stored the type of the differences
 */
record Delta(Kind sum, Kind stored) implements Unpacker {
    private static final Pattern TYPE = Pattern.compile("([<>|=]?)([iuf])([1248])");

    /** A type of numbers. */
    private record Kind(boolean isFloat, boolean isUnsigned, int bytes, ByteOrder order) {
        ByteBuffer over(byte[] bytes) {
            return ByteBuffer.wrap(bytes).order(order);
        }

        long integer(ByteBuffer in) {
            return switch (bytes) {
                case Byte.BYTES -> isUnsigned ? in.get() & 0xff : in.get();
                case Short.BYTES -> isUnsigned ? in.getShort() & 0xffff : in.getShort();
                case Integer.BYTES -> isUnsigned ? in.getInt() & 0xffff_ffffL : in.getInt();
                default -> in.getLong();
            };
        }

        double real(ByteBuffer in) {
            return bytes == Float.BYTES ? in.getFloat() : in.getDouble();
        }

        void put(ByteBuffer out, long value) {
            switch (bytes) {
                case Byte.BYTES -> out.put((byte) value);
                case Short.BYTES -> out.putShort((short) value);
                case Integer.BYTES -> out.putInt((int) value);
                default -> out.putLong(value);
            }
        }
    }

    static Delta of(Fields configuration) throws BadSource {
        Kind sum = kind("dtype", configuration);
        Kind stored = configuration.find("astype") == null ? sum : kind("astype", configuration);
        if (sum.isFloat != stored.isFloat) {
            throw unfit("astype", configuration);
        }
        return new Delta(sum, stored);
    }

    private static Kind kind(String member, Fields configuration) throws BadSource {
        String name = configuration.text(member);
        Matcher type = TYPE.matcher(Element.NAMED.getOrDefault(name, name));
        if (!type.matches()) {
            throw unfit(member, configuration);
        }
        boolean isFloat = type.group(2).equals("f");
        int bytes = Integer.parseInt(type.group(3));
        if (isFloat && bytes < Float.BYTES) {
            throw unfit(member, configuration);
        }
        ByteOrder order = type.group(1).equals(">") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        return new Kind(isFloat, type.group(2).equals("u"), bytes, order);
    }

    private static BadSource unfit(String member, Fields configuration) throws BadSource {
        return configuration
                .place()
                .unfit("its codec delta has a type that is not read: " + member + "=" + configuration.text(member));
    }

    @Override
    public byte[] undo(byte[] packed, int most) throws IOException {
        int count = packed.length / stored.bytes;
        if (packed.length % stored.bytes != 0) {
            throw new IOException("delta: it has " + packed.length + " bytes, not a multiple of " + stored.bytes);
        } else if (count > most / sum.bytes) {
            throw Unpackers.tooLong(most);
        }
        byte[] bytes = new byte[count * sum.bytes];
        ByteBuffer in = stored.over(packed);
        ByteBuffer out = sum.over(bytes);
        if (sum.isFloat && sum.bytes == Float.BYTES) {
            float total = 0;
            for (int i = 0; i < count; i++) {
                total = i == 0 ? (float) stored.real(in) : total + (float) stored.real(in);
                out.putFloat(total);
            }
        } else if (sum.isFloat) {
            double total = 0;
            for (int i = 0; i < count; i++) {
                total = i == 0 ? stored.real(in) : total + stored.real(in);
                out.putDouble(total);
            }
        } else {
            long total = 0;
            for (int i = 0; i < count; i++) {
                total += stored.integer(in);
                sum.put(out, total);
            }
        }
        return bytes;
    }
}
