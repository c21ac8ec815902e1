package dev.larder.readers.parquet;

import dev.hardwood.reader.ColumnReader;
import dev.hardwood.reader.LayerKind;
import dev.hardwood.reader.Validity;
import dev.hardwood.schema.ColumnSchema;
import dev.larder.reader.ByteSequence;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Some rows of a column, just decoded: good until the reader goes on. */
final class Batch {
    private final ColumnReader values;
    private final ColumnSchema schema;
    private final ColumnKind kind;
    private final int rows;

    Batch(ColumnReader values, ColumnSchema schema, ColumnKind kind) {
        this.values = values;
        this.schema = schema;
        this.kind = kind;
        this.rows = values.getRecordCount();
        if (kind.form() != ColumnKind.Form.LISTS && values.getValueCount() != rows) {
            throw new IllegalStateException("values=" + values.getValueCount() + " rows=" + rows);
        }
    }

    int rows() {
        return rows;
    }

    /** Returns how many elements of lists, or bytes of texts, there are. */
    int elements() {
        if (kind.form() == ColumnKind.Form.LISTS) {
            return values.getValueCount();
        }
        int[] offsets = values.getBinaryOffsets();
        int bytes = offsets[rows] - offsets[0];
        if (bytes < 0) {
            throw new IllegalStateException("its texts have " + bytes + " bytes");
        }
        return bytes;
    }

    /** Tells whether there are nulls within lists, which no mask could show. */
    boolean hasNullsInLists() {
        return kind.form() == ColumnKind.Form.LISTS && values.getLeafValidity().hasNulls();
    }

    /** Returns how many rows are null. */
    long nullRows() {
        long nulls = 0;
        for (int row = 0; row < rows; row++) {
            nulls += isNull(row) ? 1 : 0;
        }
        return nulls;
    }

    private boolean isNull(int row) {
        if (kind.form() != ColumnKind.Form.LISTS) {
            if (values.getLeafValidity().isNull(row)) {
                return true;
            }
        }
        for (int layer = 0; layer < values.getLayerCount(); layer++) {
            Validity validity = values.getLayerValidity(layer);
            if (validity.hasNulls() && validity.isNull(row)) {
                return true;
            }
            if (values.getLayerKind(layer) == LayerKind.REPEATED) {
                return false;
            }
        }
        return false;
    }

    /** Puts 1 for each row that is null, 0 for the others. */
    void putMask(ByteBuffer target) {
        for (int row = 0; row < rows; row++) {
            target.put(isNull(row) ? (byte) 1 : 0);
        }
    }

    /** Puts the number of each row; that of a null is zero. */
    void putNumbers(ByteBuffer target) {
        put(target, rows);
        Validity validity = values.getLeafValidity();
        if (schema.maxDefinitionLevel() > 0 && validity.hasNulls()) {
            for (int row = 0; row < rows; row++) {
                if (validity.isNull(row)) {
                    for (int i = 0; i < kind.itemBytes(); i++) {
                        target.put(row * kind.itemBytes() + i, (byte) 0);
                    }
                }
            }
        }
    }

    /** Puts the elements of all lists, or the bytes of all texts. */
    void putElements(ByteBuffer target) {
        if (kind.form() == ColumnKind.Form.LISTS) {
            put(target, values.getValueCount());
        } else {
            target.put(values.getBinaryValues(), values.getBinaryOffsets()[0], elements());
        }
    }

    private void put(ByteBuffer target, int count) {
        switch (schema.type()) {
            case INT32 -> putIntegers(target, values.getInts(), count);
            case INT64 -> putLongs(target, values.getLongs(), count);
            case FLOAT -> target.asFloatBuffer().put(values.getFloats(), 0, count);
            case DOUBLE -> target.asDoubleBuffer().put(values.getDoubles(), 0, count);
            case BOOLEAN -> {
                boolean[] booleans = values.getBooleans();
                for (int i = 0; i < count; i++) {
                    target.put(i, booleans[i] ? (byte) 1 : 0);
                }
            }
            default -> putFixed(target, count);
        }
    }

    private void putIntegers(ByteBuffer target, int[] integers, int count) {
        switch (kind.itemBytes()) {
            case 1 -> {
                for (int i = 0; i < count; i++) {
                    target.put(i, (byte) requireFits(integers[i]));
                }
            }
            case 2 -> {
                for (int i = 0; i < count; i++) {
                    target.putShort(2 * i, (short) requireFits(integers[i]));
                }
            }
            case 4 -> target.asIntBuffer().put(integers, 0, count);
            default -> {
                for (int i = 0; i < count; i++) {
                    target.putLong(8 * i, integers[i]);
                }
            }
        }
    }

    /** Refuses a number that its narrow type has not: Parquet stores four bytes for one or two. */
    private int requireFits(int value) {
        int unused = Integer.SIZE - kind.itemBytes() * Byte.SIZE;
        int narrow = value << unused;
        if ((kind.isUnsigned() ? narrow >>> unused : narrow >> unused) != value) {
            throw new IllegalStateException(
                    "a value is out of the range of its type: value=" + value + " type=" + kind.dtype());
        }
        return value;
    }

    private static void putLongs(ByteBuffer target, long[] longs, int count) {
        target.asLongBuffer().put(longs, 0, count);
    }

    /** Puts values of one length, where nulls have none. */
    private void putFixed(ByteBuffer target, int count) {
        byte[] bytes = values.getBinaryValues();
        int[] offsets = values.getBinaryOffsets();
        for (int i = 0; i < count; i++) {
            int length = offsets[i + 1] - offsets[i];
            if (length == kind.itemBytes()) {
                target.put(i * length, bytes, offsets[i], length);
            } else if (length != 0) {
                throw new IllegalStateException("a value has " + length + " bytes, not " + kind.itemBytes());
            }
        }
    }

    /** Puts where each row ends, and for lists how long it is. */
    void putEnds(long start, ByteSequence offsets, @Nullable ByteSequence lengths) {
        int[] ends = lengths == null ? values.getBinaryOffsets() : listOffsets();
        for (int row = 0; row < rows; row++) {
            if (ends[row + 1] < ends[row]) {
                throw new IllegalStateException("a row ends before it begins");
            }
            offsets.putLong(start + ends[row + 1] - ends[0]);
            if (lengths != null) {
                lengths.putLong(ends[row + 1] - ends[row]);
            }
        }
    }

    private int[] listOffsets() {
        for (int layer = 0; layer < values.getLayerCount(); layer++) {
            if (values.getLayerKind(layer) == LayerKind.REPEATED) {
                return values.getLayerOffsets(layer);
            }
        }
        throw new IllegalStateException("no list among the layers");
    }
}
