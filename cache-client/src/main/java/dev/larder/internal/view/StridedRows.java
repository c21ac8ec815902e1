package dev.larder.internal.view;

import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/**
 * Copies rows of a Fortran-ordered array in C order. Neighbours in a row are not adjacent there, so it copies element by
 * element. Callers check bounds.
 */
public final class StridedRows {
    private final ViewGeometry geometry;
    private final int last;
    private final int itemSize;

    /** Prepares to copy rows of an array with this geometry. */
    public StridedRows(ViewGeometry geometry, int itemSize) {
        this.geometry = geometry;
        this.last = geometry.dimensions() - 1;
        this.itemSize = itemSize;
    }

    /** Copies the row whose first element is at an address. The target is as in {@link RawMemory#copy}. */
    public void copy(long address, byte @Nullable [] target, long targetOffset) {
        copy(address, 1, target, targetOffset);
    }

    /** Copies the elements from this dimension on, and returns the offset in the target after the last one. */
    private long copy(long address, int dimension, byte @Nullable [] target, long targetOffset) {
        long stride = geometry.stride(dimension);
        long size = geometry.size(dimension);
        long from = address;
        long to = targetOffset;
        for (long i = 0; i < size; i++, from += stride) {
            if (dimension == last) {
                copyElement(from, target, to);
                to += itemSize;
            } else {
                to = copy(from, dimension + 1, target, to);
            }
        }
        return to;
    }

    private void copyElement(long address, byte @Nullable [] target, long targetOffset) {
        switch (itemSize) {
            case Byte.BYTES -> RawMemory.putByte(target, targetOffset, RawMemory.getByte(address));
            case Short.BYTES -> RawMemory.putShort(target, targetOffset, RawMemory.getShort(address));
            case Integer.BYTES -> RawMemory.putInt(target, targetOffset, RawMemory.getInt(address));
            case Long.BYTES -> RawMemory.putLong(target, targetOffset, RawMemory.getLong(address));
            default -> RawMemory.copy(address, target, targetOffset, itemSize);
        }
    }
}
