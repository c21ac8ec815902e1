package dev.larder.server.source.arrow;

import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.ExtentTable;
import dev.larder.server.source.Extents;
import java.nio.ByteBuffer;

/** Elements of a fixed length, batch after batch: extents of the files, or converted if numpy has another form. */
final class ElementData {
    private final Kind kind;
    private final String type;
    private final int size;
    private final ExtentTable extents = new ExtentTable();
    private final Pieces pieces;
    private long count;

    /** Starts without elements; the field has their type. */
    ElementData(ArrowField field) {
        this(field.kind(), field.type(), field.size());
    }

    ElementData(Kind kind, String type, int size) {
        this.kind = kind;
        this.type = type;
        this.size = size;
        this.pieces = new Pieces(kind == Kind.BITS ? 2 : 1);
    }

    /** Takes elements of the next buffer, and returns it. */
    BatchBuffer take(BatchCursor batch, long from, long to) {
        boolean isBits = kind == Kind.BITS;
        BatchBuffer buffer = batch.buffer(isBits ? BatchCursor.bytesOfBits(to) : Math.multiplyExact(to, size));
        count = Math.addExact(count, to - from);
        if (isBits) {
            pieces.add(buffer.file(), to - from, buffer.offset(), from);
        } else if (kind == Kind.NARROW) {
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
            default -> Extents.of(extents);
        };
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
