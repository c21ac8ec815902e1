package dev.larder.server.source.arrow;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.reader.arrow.ArrowField.Kind;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Rows that are all null, without a type: a column of bytes with empty rows. The file has no bitmap for them. */
final class NullColumn extends FieldColumn {
    private final Pieces pieces = new Pieces(0);

    NullColumn(String name, @Nullable Nulls above) {
        super(name, above);
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        nulls.takeAll(batch, from, to);
        takeRows(batch, from, to);
    }

    @Override
    void takeRows(BatchCursor batch, long from, long to) {
        pieces.add(batch.file(), to - from);
    }

    @Override
    void addArrays(FoundArrays arrays) {
        arrays.add(name, ColumnPart.BYTES_VALUES, "|u1", new ElementData(Kind.FIXED, "|u1", 1).data(), 0);
        ConvertedData zeros = new ConvertedData(pieces, Long.BYTES, Long.BYTES, NullColumn::putZeros);
        arrays.add(name, ColumnPart.BYTES_OFFSETS, FoundArrays.NUMBERS, zeros, Math.addExact(pieces.rows(), 1));
        nulls.addMask(name, arrays);
    }

    private static void putZeros(ArrowFile in, int piece, long row, int count, ByteBuffer out) {
        out.put(new byte[count * Long.BYTES]);
    }
}
