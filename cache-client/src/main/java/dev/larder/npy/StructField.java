package dev.larder.npy;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A field of a structured {@link Dtype}: one named part of each element.
 *
 * @param name its name in numpy
 * @param title its second name, if it has one
 * @param dtype the type of one of its elements
 * @param subShape the dimensions of its small array; empty for a single value
 * @param offset its offset in the element, in bytes
 */
public record StructField(String name, @Nullable String title, Dtype dtype, List<Integer> subShape, int offset) {
    /** Copies the dimensions. */
    public StructField {
        subShape = List.copyOf(subShape);
    }

    /** Returns the number of bytes of the field, including all of its small array. */
    public int byteSize() {
        int bytes = dtype.itemSize();
        for (int dimension : subShape) {
            bytes = Math.multiplyExact(bytes, dimension);
        }
        return bytes;
    }
}
