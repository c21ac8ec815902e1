package dev.larder.loader.internal.slot;

import dev.larder.npy.Dtype;

/** The name, dtype and row shape of one array of every batch. */
public final class OutputArray {
    private final String name;
    private final Dtype dtype;
    private final long[] rowShape;

    /** Describes an array; dimensions of a row that differ between batches are 0. */
    public OutputArray(String name, Dtype dtype, long... rowShape) {
        this.name = name;
        this.dtype = dtype;
        this.rowShape = rowShape.clone();
    }

    /** Returns its name in batches. */
    public String name() {
        return name;
    }

    /** Returns the type of its elements. */
    public Dtype dtype() {
        return dtype;
    }

    /** Returns the dimensions after the first one. */
    public long[] rowShape() {
        return rowShape.clone();
    }

    /** Returns the length of a row in bytes. */
    public long rowByteSize() {
        long bytes = dtype.itemSize();
        for (long size : rowShape) {
            bytes = Math.multiplyExact(bytes, size);
        }
        return bytes;
    }

    @Override
    public String toString() {
        return name;
    }
}
