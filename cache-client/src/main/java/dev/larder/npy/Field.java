package dev.larder.npy;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One named part of a structured {@link Dtype}.
 *
 * @param name how numpy addresses it
 * @param title its second name, if it has one
 * @param dtype the type of one element of it
 * @param subShape the dimensions of the small array it is; empty for a plain value
 * @param offset where it begins in the element, in bytes
 */
public record Field(String name, @Nullable String title, Dtype dtype, List<Integer> subShape, int offset) {
    /** Keeps its own copy of the dimensions. */
    public Field {
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
