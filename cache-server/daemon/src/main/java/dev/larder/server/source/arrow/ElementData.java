package dev.larder.server.source.arrow;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.ExtentTable;
import dev.larder.server.source.Extents;
import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import org.jspecify.annotations.Nullable;

/** Elements of a fixed length, batch after batch: extents of the files, or converted if numpy has another form. */
final class ElementData {
    private static final String SCALE = ".scale";

    private final String column;
    private final Kind kind;
    private final String type;
    private final int size;
    private final int digits;
    private final boolean isScaled;
    private final @Nullable Nulls nulls;
    private final ExtentTable extents = new ExtentTable();
    private final Pieces pieces;
    private long count;

    /** Starts without elements of a column. The field has their type, and {@code nulls} those that are null. */
    ElementData(String column, ArrowField field, Nulls nulls) {
        this(column, field.form(), field.isScaled(), nulls);
    }

    ElementData(Kind kind, String type, int size) {
        this("", new ArrowField.Form(kind, type, size, 0), false, null);
    }

    private ElementData(String column, ArrowField.Form form, boolean isScaled, @Nullable Nulls nulls) {
        this.column = column;
        this.kind = form.kind();
        this.type = form.type();
        this.size = form.size();
        this.digits = form.digits();
        this.isScaled = isScaled;
        this.nulls = nulls;
        this.pieces = new Pieces(kind == Kind.BITS ? 2 : 1);
    }

    /** Takes elements of the next buffer, and returns it. */
    BatchBuffer take(BatchCursor batch, long from, long to) {
        boolean isBits = kind == Kind.BITS;
        BatchBuffer buffer = batch.buffer(isBits ? BatchCursor.bytesOfBits(to) : Math.multiplyExact(to, size));
        count = Math.addExact(count, to - from);
        if (isBits) {
            pieces.add(buffer.file(), to - from, buffer.offset(), from);
        } else if (kind == Kind.NARROW || kind == Kind.DECIMALS) {
            pieces.add(buffer.file(), to - from, buffer.offset() + from * size);
        } else {
            extents.add(buffer.file(), buffer.offset() + from * size, (to - from) * size);
        }
        return buffer;
    }

    /** Returns the number of elements. */
    long count() {
        return count;
    }

    String type() {
        return type;
    }

    ArrayData data() {
        return switch (kind) {
            case BITS -> new ConvertedData(pieces, 1, this::spread);
            case NARROW -> new ConvertedData(pieces, Long.BYTES, this::widen);
            case DECIMALS -> new ConvertedData(pieces, Long.BYTES, this::decimals);
            default -> Extents.of(extents);
        };
    }

    /** Adds the digits behind the point, if the elements are decimals without it. */
    void addScale(String column, FoundArrays arrays) {
        if (isScaled) {
            byte[] number = ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(digits)
                    .array();
            ArrayData data = () -> Channels.newChannel(new ByteArrayInputStream(number));
            arrays.add(column + SCALE, ColumnPart.NONE, FoundArrays.NUMBERS, data);
        }
    }

    /** Makes integers of eight bytes, or doubles, of decimals. */
    private void decimals(ArrowFile in, int piece, long row, int rows, ByteBuffer out) {
        ByteBuffer isNull = ByteBuffer.allocate(rows);
        if (isScaled && nulls != null) {
            nulls.mask(in, piece, row, rows, isNull); // before the decimals, which are valid until the next read
        }
        long place = pieces.number(piece, 0) + row * size;
        ByteBuffer decimals = in.read(place, rows * size).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < rows; i++) {
            long low = size == Integer.BYTES ? decimals.getInt(i * size) : decimals.getLong(i * size);
            boolean isShort = true;
            for (int at = Long.BYTES; at < size; at += Long.BYTES) {
                isShort &= decimals.getLong(i * size + at) == low >> 63;
            }
            if (!isScaled) {
                BigInteger whole = isShort ? BigInteger.valueOf(low) : integer(decimals, i);
                out.putDouble(new BigDecimal(whole, digits).doubleValue());
            } else if (isShort || isNull.get(i) != 0) {
                out.putLong(low);
            } else {
                in.enter(place);
                throw in.unread(
                        "column " + column + ": int64 lacks a decimal, which has no point there: value="
                                + integer(decimals, i),
                        "load decimals as doubles with --decimals f8, or leave the column out with --columns");
            }
        }
    }

    private BigInteger integer(ByteBuffer decimals, int index) {
        byte[] bigEndian = new byte[size];
        for (int i = 0; i < size; i++) {
            bigEndian[size - 1 - i] = decimals.get(index * size + i);
        }
        return new BigInteger(bigEndian);
    }

    /** Makes a byte of each bit. */
    private void spread(ArrowFile in, int piece, long row, int rows, ByteBuffer out) {
        long first = pieces.number(piece, 1) + row;
        ByteBuffer bits = BatchBuffer.bits(in, pieces.number(piece, 0), first, rows);
        int shift = (int) (first & 7);
        byte[] bytes = new byte[rows];
        for (int i = 0; i < rows; i++) {
            bytes[i] = (byte) BatchBuffer.bit(bits, shift + i);
        }
        out.put(bytes);
    }

    /** Makes integers of 8 bytes of those of 4. */
    private void widen(ArrowFile in, int piece, long row, int rows, ByteBuffer out) {
        ByteBuffer narrow = in.read(pieces.number(piece, 0) + row * Integer.BYTES, rows * Integer.BYTES);
        while (narrow.hasRemaining()) {
            out.putLong(narrow.getInt());
        }
    }
}
