package dev.larder.server.source.text;

import dev.larder.column.ColumnBuilder;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.NpyHeader;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.BuiltData;
import java.util.List;

/**
 * An array made of a text file.
 *
 * @param name its name within the file
 */
public record BuiltArray(String name, NpyHeader header, ArrayData data, ColumnPart part) {
    /** Returns the arrays of a column, which own the memory of the builder from now on. */
    static List<BuiltArray> of(String column, ColumnBuilder builder) {
        return builder.arrays(column).stream()
                .map(array -> new BuiltArray(
                        array.name(), array.header(), new BuiltData(array), ColumnPart.valueOf(array.part())))
                .toList();
    }
}
