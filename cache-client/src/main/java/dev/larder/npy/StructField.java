package dev.larder.npy;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A field of a structured {@link Dtype}: one named part of each element.
 *
 * @param name how numpy addresses it
 * @param title its second name, if it has one
 * @param dtype the type of one element of it
 * @param subShape the dimensions of the small array it is; empty for a plain value
 * @param offset where it begins in the element, in bytes
 */
public record StructField(String name, @Nullable String title, Dtype dtype, List<Integer> subShape, int offset) {
    /** Keeps its own copy of the dimensions. */
    public StructField {
        subShape = List.copyOf(subShape);
    }

    /** Returns how many bytes of the element it takes, all of its small array included. */
    public int byteSize() {
        int bytes = dtype.itemSize();
        for (int dimension : subShape) {
            bytes = Math.multiplyExact(bytes, dimension);
        }
        return bytes;
    }
}
