package dev.larder.server.source.arrow;

import dev.larder.npy.Dtype;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.ExtentTable;
import dev.larder.server.source.Extents;

/** Elements of fixed length, batch after batch: copied from where they lie, or converted where numpy has them in another form. */
final class Elements {
    private final ArrowField.Kind kind;
    private final String type;
    private final int size;
    private final ExtentTable regions = new ExtentTable();
    private final Pieces pieces;
    private long count;

    /** Starts without any; {@code field} says what they are. */
    Elements(ArrowField field) {
        this(field.kind(), field.type(), field.size());
    }

    Elements(ArrowField.Kind kind, String type, int size) {
        this.kind = kind;
        this.type = type;
        this.size = size;
        this.pieces = new Pieces(kind == ArrowField.Kind.BITS ? 2 : 1);
    }

    /** Takes some of the field that was entered last. */
    void take(BatchCursor batch, long from, long to) {
        count = Math.addExact(count, to - from);
        if (kind == ArrowField.Kind.BITS) {
            batch.nextBuffer(to / Byte.SIZE + (to % Byte.SIZE > 0 ? 1 : 0));
            pieces.add(batch.file().identity(), to - from, batch.bufferOffset(), from);
            return;
        }
        batch.nextBuffer(Math.multiplyExact(to, size));
        long offset = batch.bufferOffset() + from * size;
        if (kind == ArrowField.Kind.NARROW) {
            pieces.add(batch.file().identity(), to - from, offset);
        } else {
            regions.add(batch.file().identity(), offset, (to - from) * size);
        }
    }

    /** Returns how many were taken. */
    long count() {
        return count;
    }

    Dtype dtype() {
        return Dtype.parse(type);
    }

    ArrayData data() {
        return switch (kind) {
            case BITS -> new ConvertedData.OfBits(pieces);
            case NARROW -> new ConvertedData.OfNarrow(pieces);
            default -> Extents.of(regions);
        };
    }
}
