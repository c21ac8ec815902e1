package dev.larder.server.source.arrow;

import dev.larder.error.LarderException;
import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.Partitioning;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.util.ArrayList;
import java.util.List;

/** Collects the arrays of a table, under names below one level. Owns them until the caller takes them. */
final class FoundArrays {
    /** The type of offsets and lengths. */
    static final String NUMBERS = "<i8";

    private final String dataset;
    private final String level;
    private final List<SourceIdentity> files;
    private final ColumnMemory memory;
    private final List<SourceArray> arrays = new ArrayList<>();

    FoundArrays(String dataset, String level, List<SourceIdentity> files, ColumnMemory memory) {
        this.dataset = dataset;
        this.level = level;
        this.files = files;
        this.memory = memory;
    }

    /** Returns the memory for columns that are built. */
    ColumnMemory memory() {
        return memory;
    }

    /** Adds a part of a column, or with {@link ColumnPart#NONE} an array of its own. */
    void add(String column, ColumnPart part, String type, ArrayData data, long... shape) {
        String name = part.arrayName(level + column);
        NpyHeader header;
        try {
            header = NpyHeader.of(Dtype.parse(type), Order.C, shape);
        } catch (LarderException e) {
            throw Refusal.of(files.get(0).file(), 0, "no array can have the shape of column " + Names.printable(name));
        }
        require(name, header);
        arrays.add(new SourceArray(new ArrayName(dataset, name), header, data, files, part));
    }

    /** Adds an array of rows that all have one shape; returns its shape. */
    long[] addRows(String name, ElementData elements, long rows, long[] rowShape) {
        long[] shape = new long[rowShape.length + 1];
        shape[0] = rows;
        System.arraycopy(rowShape, 0, shape, 1, rowShape.length);
        add(name, ColumnPart.NONE, elements.type(), elements.data(), shape);
        return shape;
    }

    /** Adds the offsets of the rows of a column. */
    void addOffsets(String column, ColumnPart part, RowBounds bounds) {
        add(column, part, NUMBERS, bounds.offsets(), Math.addExact(bounds.rows(), 1));
    }

    /** Adds a column that was built; the arrays own its memory from then on. */
    void add(String column, ColumnBuilder builder) {
        List<SourceArray> built = ColumnArrays.of(dataset, level + column, builder, files);
        arrays.addAll(built);
        built.forEach(array -> require(array.name().array(), array.header()));
    }

    private void require(String name, NpyHeader header) {
        String objection = Names.arrayObjection(name);
        if (objection == null) {
            objection = ArrayRow.objection(dataset + "/" + name, header.dtype());
        }
        if (objection != null) {
            throw Refusal.unfit(
                    files.get(0).file(),
                    "its array cannot be called " + Names.printable(name) + ": " + objection,
                    "choose other columns with --columns");
        }
    }

    /** Sets the partitioning of the arrays that a step adds. */
    void addingAs(Partitioning partitioning, Runnable step) {
        int first = arrays.size();
        step.run();
        arrays.subList(first, arrays.size()).replaceAll(array -> array.withPartitioning(partitioning));
    }

    /** Returns the arrays. */
    List<SourceArray> all() {
        return arrays;
    }

    /** Releases the arrays. */
    void release() {
        arrays.forEach(SourceArray::release);
    }
}
