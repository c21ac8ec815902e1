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

/** Collects the arrays of some files, under names below one level. Owns them until they are taken. */
final class FoundArrays {
    private static final Dtype BYTES = Dtype.parse("|u1");
    private static final Dtype NUMBERS = Dtype.parse("<i8");

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

    /** Returns where columns are made that have to be built. */
    ColumnMemory memory() {
        return memory;
    }

    /** Adds an array that is no part of a column. */
    void add(String name, Dtype dtype, ArrayData data, long... shape) {
        add(name, ColumnPart.NONE, dtype, data, shape);
    }

    /** Adds a part of a column, or with {@link ColumnPart#NONE} an array of its own. */
    void add(String column, ColumnPart part, Dtype dtype, ArrayData data, long... shape) {
        String name = part.arrayName(level + column);
        NpyHeader header;
        try {
            header = NpyHeader.of(dtype, Order.C, shape);
        } catch (LarderException e) {
            throw Refusal.of(files.get(0).file(), 0, "no array can have the shape of column " + Names.printable(name));
        }
        require(name, header);
        arrays.add(new SourceArray(new ArrayName(dataset, name), header, data, files, part));
    }

    /** Adds the bytes of a column. */
    void addBytes(String column, ColumnPart part, ArrayData data, long byteSize) {
        add(column, part, BYTES, data, byteSize);
    }

    /** Adds what says where the rows of a column begin and end. */
    void addOffsets(String column, ColumnPart part, RowBounds bounds) {
        add(column, part, NUMBERS, bounds.offsets(), Math.addExact(bounds.rows(), 1));
    }

    /** Adds whole numbers of eight bytes. */
    void addNumbers(String column, ColumnPart part, ArrayData data, long... shape) {
        add(column, part, NUMBERS, data, shape);
    }

    /** Adds a column that was built, whose memory belongs to the arrays from now on. */
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

    /** Says what each node has of the arrays that a step adds, where the dataset is cut into shards. */
    void addingAs(Partitioning partitioning, Runnable step) {
        int first = arrays.size();
        step.run();
        arrays.subList(first, arrays.size()).replaceAll(array -> array.withPartitioning(partitioning));
    }

    /** Returns what was added. */
    List<SourceArray> all() {
        return arrays;
    }

    /** Gives up what was collected. */
    void release() {
        arrays.forEach(SourceArray::release);
    }
}
