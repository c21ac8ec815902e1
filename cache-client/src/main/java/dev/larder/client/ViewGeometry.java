package dev.larder.client;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.npy.Dtype;
import dev.larder.npy.Order;
import java.util.Arrays;

/** Where the elements of an array lie: dimensions and strides in bytes. Immutable. */
final class ViewGeometry {
    private final Order order;
    private final String dtype;
    private final long[] shape;
    private final long[] strides;
    private final long elementCount;
    private final long rowByteSize;
    private final boolean contiguousRows;

    private ViewGeometry(Order order, Dtype dtype, long[] shape) {
        this(order, dtype, shape, strides(order, dtype, shape), order == Order.C || shape.length == 1);
    }

    private ViewGeometry(Order order, Dtype dtype, long[] shape, long[] strides, boolean contiguousRows) {
        this.order = order;
        this.dtype = dtype.descr();
        this.shape = shape.clone();
        this.strides = strides;
        this.contiguousRows = contiguousRows;
        long count = 1;
        for (long size : shape) {
            count = Math.multiplyExact(count, size);
        }
        this.elementCount = count;
        long row = dtype.itemSize();
        for (int i = 1; i < shape.length; i++) {
            row = Math.multiplyExact(row, shape[i]);
        }
        this.rowByteSize = row;
    }

    private static long[] strides(Order order, Dtype dtype, long[] shape) {
        long[] strides = new long[shape.length];
        long stride = dtype.itemSize();
        for (int step = 0; step < shape.length; step++) {
            int dimension = order == Order.C ? shape.length - 1 - step : step;
            strides[dimension] = stride;
            stride = Math.multiplyExact(stride, shape[dimension]);
        }
        return strides;
    }

    /** Returns where windows of so many rows lie: a window begins with every row, so they overlap. */
    ViewGeometry windows(Dtype itemType, long length) {
        long[] windowShape = new long[shape.length + 1];
        long[] windowStrides = new long[shape.length + 1];
        System.arraycopy(shape, 0, windowShape, 1, shape.length);
        System.arraycopy(strides, 0, windowStrides, 1, strides.length);
        windowShape[0] = shape[0] - length + 1;
        windowShape[1] = length;
        windowStrides[0] = strides[0];
        return new ViewGeometry(order, itemType, windowShape, windowStrides, contiguousRows);
    }

    long[] shape() {
        return shape.clone();
    }

    static ViewGeometry of(ArrayEntry entry, Dtype dtype) {
        ViewGeometry geometry = new ViewGeometry(entry.order() == 'F' ? Order.F : Order.C, dtype, entry.shape());
        if (Math.multiplyExact(geometry.elementCount, dtype.itemSize()) != entry.byteSize()) {
            throw new IllegalStateException("index contradicts itself: array=" + entry.name() + " bytes="
                    + entry.byteSize() + " expected=" + geometry.elementCount * dtype.itemSize());
        }
        return geometry;
    }

    Order order() {
        return order;
    }

    int dimensions() {
        return shape.length;
    }

    long elementCount() {
        return elementCount;
    }

    long rowByteSize() {
        return rowByteSize;
    }

    /** Returns a dimension's size; 0 for one that the array does not have. */
    long size(int dimension) {
        return dimension < shape.length ? shape[dimension] : 0;
    }

    /** Returns a dimension's stride in bytes; 0 for one that the array does not have. */
    long stride(int dimension) {
        return dimension < strides.length ? strides[dimension] : 0;
    }

    boolean hasContiguousRows() {
        return contiguousRows;
    }

    long offset(long[] index) {
        if (index.length != shape.length) {
            throw wrongRank(index.length);
        }
        long offset = 0;
        for (int i = 0; i < index.length; i++) {
            if (index[i] < 0 || index[i] >= shape[i]) {
                throw refusal(index);
            }
            offset += index[i] * strides[i];
        }
        return offset;
    }

    /** Says what is wrong with indices that a view refused. */
    RuntimeException refusal(long... index) {
        return index.length == shape.length
                ? new IndexOutOfBoundsException(
                        "index is out of range: index=" + Arrays.toString(index) + " shape=" + Arrays.toString(shape))
                : wrongRank(index.length);
    }

    private IllegalArgumentException wrongRank(int indices) {
        return new IllegalArgumentException("wrong number of indices: given=" + indices + " dimensions=" + shape.length
                + " shape=" + Arrays.toString(shape));
    }

    @Override
    public String toString() {
        return dtype + " " + Arrays.toString(shape) + " " + order;
    }
}
