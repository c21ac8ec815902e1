package dev.larder.server.source.formats;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.NpyHeader;
import dev.larder.server.source.ArrayData;

/**
 * One array that a file has, checked, its data not yet read.
 *
 * @param name what the file calls it; empty where the file is one array
 * @param part the part it plays in a column
 */
public record Member(String name, NpyHeader header, ArrayData data, ColumnPart part) {
    /** Describes an array that is no part of a column. */
    Member(String name, NpyHeader header, ArrayData data) {
        this(name, header, data, ColumnPart.NONE);
    }
}
