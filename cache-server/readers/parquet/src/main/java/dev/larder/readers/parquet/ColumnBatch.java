package dev.larder.readers.parquet;

import dev.hardwood.metadata.LogicalType;
import dev.hardwood.reader.ColumnReader;
import dev.hardwood.reader.LayerKind;
import dev.hardwood.reader.Validity;
import dev.hardwood.schema.ColumnSchema;
import dev.larder.reader.ByteSequence;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Some rows of a column, just decoded: good until the reader goes on. Rows of a column of items are those items: so there are rows at the depth
 * of each list of items, and at the depth below the last of them the rows of the column itself.
 */
final class ColumnBatch {
    /** The reason if no mask could show the nulls. */
    static final String NULL_LISTS = "rows have null lists in them";

    private final ColumnReader values;
    private final ColumnSchema schema;
    private final ColumnKind kind;
    private final int deepest;
    private final int[] rows;
    private final int[][] ends;
    private final List<List<Validity>> nulls = new ArrayList<>();
    private final boolean isOfNulls;

    /** The nulls among the elements of lists of numbers; null if there are none. */
    private @Nullable Validity elementNulls;

    private boolean hasNullLists;

    /** Takes the rows that the reader has decoded; {@code items} is how many lists of items there are. */
    ColumnBatch(ColumnReader values, ColumnSchema schema, ColumnKind kind, int items) {
        this.values = values;
        this.schema = schema;
        this.kind = kind;
        this.deepest = items;
        this.isOfNulls = schema.logicalType() instanceof LogicalType.NullType;
        this.rows = new int[items + 1];
        this.ends = new int[items + kind.lists().size()][];
        rows[0] = values.getRecordCount();
        for (int depth = 0; depth <= items; depth++) {
            nulls.add(new ArrayList<>());
        }
        int depth = 0;
        for (int layer = 0; layer < values.getLayerCount(); layer++) {
            take(values.getLayerValidity(layer), depth);
            if (values.getLayerKind(layer) == LayerKind.REPEATED) {
                ends[depth] = values.getLayerOffsets(layer);
                depth++;
                if (depth <= items) {
                    rows[depth] = ends[depth - 1][rows[depth - 1]];
                }
            }
        }
        Validity leaves = values.getLeafValidity();
        if (kind.lists().isEmpty()) {
            take(leaves, depth);
        } else if (leaves.hasNulls()) {
            elementNulls = leaves;
        }
        if (depth != ends.length || (kind.lists().isEmpty() && values.getValueCount() != rows[items])) {
            throw new IllegalStateException("values=" + values.getValueCount() + " rows=" + rows[items]);
        }
    }

    private void take(Validity validity, int depth) {
        if (!validity.hasNulls()) {
            return;
        } else if (depth <= deepest) {
            nulls.get(depth).add(validity);
        } else {
            hasNullLists = true;
        }
    }

    /** Returns how many rows there are at a depth. */
    int rows(int depth) {
        return rows[depth];
    }

    /** Returns how many elements of lists, or bytes of texts, there are. */
    int elements() {
        if (kind.form() == ColumnKind.Form.LISTS) {
            return values.getValueCount();
        } else if (isOfNulls) {
            return 0;
        }
        int[] offsets = values.getBinaryOffsets();
        int bytes = offsets[rows[deepest]] - offsets[0];
        if (bytes < 0) {
            throw new IllegalStateException("its texts have " + bytes + " bytes");
        }
        return bytes;
    }

    /** Returns why no array can hold these rows; empty if one can. */
    String objection() {
        if (hasNullLists) {
            return NULL_LISTS;
        } else if (kind.lists().size() < 2 || kind.form() != ColumnKind.Form.LISTS) {
            return "";
        }
        long[] shape = new long[kind.lists().size()];
        for (int row = 0; row < rows[deepest]; row++) {
            if (!measure(row, shape)) {
                return "row " + row + " of a batch has lists of different lengths within each other";
            }
        }
        return "";
    }

    /** Returns whether any row at a depth is null. */
    boolean hasNulls(int depth) {
        return !nulls.get(depth).isEmpty();
    }

    /** Returns whether each row of the column itself is null. */
    boolean isAllNull() {
        for (int row = 0; row < rows[deepest]; row++) {
            if (!isNull(deepest, row)) {
                return false;
            }
        }
        return true;
    }

    private boolean isNull(int depth, int row) {
        for (Validity validity : nulls.get(depth)) {
            if (validity.isNull(row)) {
                return true;
            }
        }
        return false;
    }

    /** Puts 1 for each row at a depth that is null, 0 for the others. */
    void putMask(int depth, ByteBuffer target) {
        for (int row = 0; row < rows[depth]; row++) {
            target.put(isNull(depth, row) ? (byte) 1 : 0);
        }
    }

    /** Returns whether any element of a list of numbers is null. */
    boolean hasNullElements() {
        return elementNulls != null;
    }

    /** Returns how many elements a mask of them has. */
    int maskedElements() {
        return kind.form() == ColumnKind.Form.LISTS
                ? values.getValueCount()
                : Math.multiplyExact(rows[deepest], Math.toIntExact(kind.valuesOfRow()));
    }

    /** Puts 1 for each element that is null, or that is in a null row of an array; 0 for the others. */
    void putElementMask(ByteBuffer target) {
        boolean isRagged = kind.form() == ColumnKind.Form.LISTS;
        int each = isRagged ? values.getValueCount() : Math.toIntExact(kind.valuesOfRow());
        int value = 0;
        for (int row = 0; target.hasRemaining(); row++) {
            boolean isNullRow = !isRagged && isNull(deepest, row);
            for (int i = 0; i < each; i++) {
                target.put(isNullRow || isNullElement(value + i) ? (byte) 1 : 0);
            }
            value += isNullRow ? 0 : each;
        }
    }

    private boolean isNullElement(int value) {
        return elementNulls != null && elementNulls.isNull(value);
    }

    /** Puts the number or numbers of each row; those of a null are zero. */
    void putNumbers(ByteBuffer target) {
        requireLengths();
        int each = Math.toIntExact(kind.valuesOfRow());
        if (isOfNulls) {
            target.put(new byte[target.remaining()]);
            return;
        } else if (!hasNulls(deepest)) {
            if (values.getValueCount() != Math.multiplyExact(each, rows[deepest])) {
                throw new IllegalStateException("values=" + values.getValueCount() + " rows=" + rows[deepest]);
            }
            put(target, 0, values.getValueCount());
            return;
        }
        boolean hasLists = !kind.lists().isEmpty();
        if (!hasLists) {
            put(target, 0, rows[deepest]);
        }
        int rowBytes = Math.toIntExact(kind.rowBytes());
        int value = 0;
        for (int row = 0; row < rows[deepest]; row++) {
            if (isNull(deepest, row)) {
                target.put(row * rowBytes, new byte[rowBytes]);
            } else if (hasLists) {
                put(target.slice(row * rowBytes, rowBytes).order(target.order()), value, each);
                value += each;
            }
        }
    }

    /** Fails if a list of a row of an array that is not null has another length than in the Arrow schema of the file. */
    void requireLengths() {
        if (kind.form() != ColumnKind.Form.NUMBERS) {
            return;
        }
        int above = rows[deepest];
        for (int level = 0; level < kind.lists().size(); level++) {
            int[] its = ends[deepest + level];
            int length = kind.lists().get(level);
            for (int list = 0; list < above; list++) {
                int found = its[list + 1] - its[list];
                if (found != length && !(level == 0 && found == 0 && isNull(deepest, list))) {
                    throw otherLength(length, found);
                }
            }
            above = its[above];
        }
    }

    static IllegalStateException otherLength(int length, int found) {
        return new IllegalStateException(
                "lists have " + length + " elements in its Arrow schema, and one has " + found);
    }

    /** Finds the shape of a row; returns whether the lists of each level have one length. */
    private boolean measure(int row, long[] shape) {
        int first = row;
        int count = isNull(deepest, row) ? 0 : 1;
        for (int level = 0; level < shape.length; level++) {
            int[] its = ends[deepest + level];
            int said = kind.lists().get(level);
            int length = count == 0 ? Math.max(0, said) : its[first + 1] - its[first];
            if (length < 0) {
                throw new IllegalStateException("a row ends before it begins");
            } else if (said != ColumnKind.ANY_LENGTH && length != said) {
                throw otherLength(said, length);
            }
            for (int list = first; list < first + count; list++) {
                if (its[list + 1] - its[list] != length) {
                    return false;
                }
            }
            shape[level] = length;
            first = count == 0 ? first : its[first];
            count = Math.multiplyExact(count, length);
        }
        return true;
    }

    /** Puts the elements of all lists, or the bytes of all texts. */
    void putElements(ByteBuffer target) {
        if (kind.form() == ColumnKind.Form.LISTS) {
            put(target, 0, values.getValueCount());
        } else if (!isOfNulls) {
            target.put(values.getBinaryValues(), values.getBinaryOffsets()[0], elements());
        }
    }

    /** Puts numbers; those of null elements of lists are zero. */
    private void put(ByteBuffer target, int from, int count) {
        putValues(target, from, count);
        for (int i = 0; i < count && elementNulls != null; i++) {
            if (elementNulls.isNull(from + i)) {
                target.put(i * kind.itemBytes(), new byte[kind.itemBytes()]);
            }
        }
    }

    private void putValues(ByteBuffer target, int from, int count) {
        switch (schema.type()) {
            case INT32 -> NumberValues.put(kind, target, values.getInts(), from, count);
            case INT64 -> NumberValues.put(kind, target, values.getLongs(), from, count);
            case FLOAT -> target.asFloatBuffer().put(values.getFloats(), from, count);
            case DOUBLE -> target.asDoubleBuffer().put(values.getDoubles(), from, count);
            case BOOLEAN -> {
                boolean[] booleans = values.getBooleans();
                for (int i = 0; i < count; i++) {
                    target.put(i, booleans[from + i] ? (byte) 1 : 0);
                }
            }
            default -> putFixed(target, from, count);
        }
    }

    /** Puts values of one length, where nulls have none. */
    private void putFixed(ByteBuffer target, int from, int count) {
        byte[] bytes = values.getBinaryValues();
        int[] offsets = values.getBinaryOffsets();
        if (kind.change().how() != ColumnKind.How.SAME) {
            NumberValues.put(kind, target, bytes, offsets, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            int length = offsets[from + i + 1] - offsets[from + i];
            if (length == kind.itemBytes()) {
                target.put(i * length, bytes, offsets[from + i], length);
            } else if (length != 0) {
                throw new IllegalStateException("a value has " + length + " bytes, not " + kind.itemBytes());
            }
        }
    }

    /** Puts where each row at the depth of a list of items ends; returns a number that other offsets are unlikely to have. */
    long putItemEnds(int depth, long start, long before, @Nullable ByteSequence offsets) {
        long hash = before;
        int[] its = ends[depth];
        for (int row = 0; row < rows[depth]; row++) {
            if (its[row + 1] < its[row]) {
                throw new IllegalStateException("a row ends before it begins");
            }
            long end = start + its[row + 1];
            hash = 31 * hash + end;
            if (offsets != null) {
                offsets.putLong(end);
            }
        }
        return hash;
    }

    /** Puts where each row ends, and for lists its shape. */
    void putEnds(long start, ByteSequence offsets, @Nullable ByteSequence shapes) {
        if (shapes != null && kind.lists().size() > 1) {
            putBoxes(start, offsets, shapes);
            return;
        }
        int[] its = isOfNulls ? new int[rows[deepest] + 1] : shapes == null ? values.getBinaryOffsets() : ends[deepest];
        for (int row = 0; row < rows[deepest]; row++) {
            if (its[row + 1] < its[row]) {
                throw new IllegalStateException("a row ends before it begins");
            }
            offsets.putLong(start + its[row + 1] - its[0]);
            if (shapes != null) {
                shapes.putLong(its[row + 1] - its[row]);
            }
        }
    }

    private void putBoxes(long start, ByteSequence offsets, ByteSequence shapes) {
        long[] shape = new long[kind.lists().size()];
        long end = start;
        for (int row = 0; row < rows[deepest]; row++) {
            if (!measure(row, shape)) {
                throw new IllegalStateException("lists of a row have other lengths than before");
            }
            long elements = 1;
            for (long dimension : shape) {
                shapes.putLong(dimension);
                elements *= dimension;
            }
            end += elements;
            offsets.putLong(end);
        }
        if (end != start + values.getValueCount()) {
            throw new IllegalStateException("values=" + values.getValueCount() + " of rows=" + (end - start));
        }
    }

    /** Looks up the number of each row's word, that of a null is 0. */
    void takeCodes(Words words, IntConsumer codes) {
        ColumnKind its = words.kind();
        boolean isOfNumbers = its.form() == ColumnKind.Form.NUMBERS;
        if (isOfNulls) {
            IntStream.range(0, rows[deepest]).forEach(row -> codes.accept(0));
            return;
        }
        ByteBuffer numbers = ByteBuffer.allocate(isOfNumbers ? rows[deepest] * its.itemBytes() : 0)
                .order(ByteOrder.LITTLE_ENDIAN);
        int[] offsets = new int[0];
        byte[] bytes = numbers.array();
        if (isOfNumbers) {
            new ColumnBatch(values, schema, its, deepest).put(numbers, 0, rows[deepest]);
        } else {
            offsets = values.getBinaryOffsets();
            bytes = values.getBinaryValues();
        }
        for (int row = 0; row < rows[deepest]; row++) {
            int from = isOfNumbers ? row * its.itemBytes() : offsets[row];
            int length = isOfNumbers ? its.itemBytes() : offsets[row + 1] - from;
            codes.accept(isNull(deepest, row) ? 0 : words.number(bytes, from, length));
        }
    }
}
