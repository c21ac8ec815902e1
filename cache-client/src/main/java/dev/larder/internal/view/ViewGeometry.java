package dev.larder.internal.view;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.npy.Dtype;
import dev.larder.npy.Order;
import java.util.Arrays;

/** The dimensions of an array and its strides in bytes. Immutable. */
public final class ViewGeometry {
    private final String array;
    private final Order order;
    private final String dtype;
    private final long[] shape;
    private final long[] strides;
    private final long elementCount;
    private final long rowByteSize;
    private final boolean contiguousRows;

    private ViewGeometry(String array, Order order, Dtype dtype, long[] shape) {
        this(array, order, dtype, shape, strides(order, dtype, shape), order == Order.C || shape.length == 1);
    }

    private ViewGeometry(String array, Order order, Dtype dtype, long[] shape, long[] strides, boolean contiguousRows) {
        this.array = array;
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

    /** Returns the geometry of contiguous elements of an array with this name. */
    public static ViewGeometry of(String array, Order order, Dtype dtype, long... shape) {
        return new ViewGeometry(array, order, dtype, shape);
    }

    /** Returns the geometry of windows of {@code length} rows. A window begins at every row, so they overlap. */
    public ViewGeometry windows(Dtype itemType, long length) {
        long[] windowShape = new long[shape.length + 1];
        long[] windowStrides = new long[shape.length + 1];
        System.arraycopy(shape, 0, windowShape, 1, shape.length);
        System.arraycopy(strides, 0, windowStrides, 1, strides.length);
        windowShape[0] = shape[0] - length + 1;
        windowShape[1] = length;
        windowStrides[0] = strides[0];
        return new ViewGeometry(array, order, itemType, windowShape, windowStrides, contiguousRows);
    }

    /** Returns the dimensions, as a new array. */
    public long[] shape() {
        return shape.clone();
    }

    /** Returns the geometry of an array. Fails if its size contradicts its shape. */
    public static ViewGeometry of(ArrayEntry entry, Dtype dtype) {
        ViewGeometry geometry = of(entry.name(), entry.order() == 'F' ? Order.F : Order.C, dtype, entry.shape());
        if (Math.multiplyExact(geometry.elementCount, dtype.itemSize()) != entry.byteSize()) {
            throw new IllegalStateException("index contradicts itself: array=" + entry.name() + " bytes="
                    + entry.byteSize() + " expected=" + geometry.elementCount * dtype.itemSize());
        }
        return geometry;
    }

    /** Returns the order of the elements. */
    public Order order() {
        return order;
    }

    /** Returns the number of dimensions. */
    public int dimensions() {
        return shape.length;
    }

    /** Returns the number of elements. */
    public long elementCount() {
        return elementCount;
    }

    /** Returns the length of a row in bytes. */
    public long rowByteSize() {
        return rowByteSize;
    }

    /** Returns the size of a dimension, or 0 if the array does not have it. */
    public long size(int dimension) {
        return dimension < shape.length ? shape[dimension] : 0;
    }

    /** Returns the stride of a dimension in bytes, or 0 if the array does not have it. */
    public long stride(int dimension) {
        return dimension < strides.length ? strides[dimension] : 0;
    }

    /** Returns whether each row is contiguous. */
    public boolean hasContiguousRows() {
        return contiguousRows;
    }

    /** Returns the offset of an element in bytes. Throws if the indices are wrong. */
    public long offset(long[] index) {
        if (index.length != shape.length) {
            throw refusal(index);
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

    /** Returns the exception for indices that a view refused. */
    public RuntimeException refusal(long... index) {
        return Accessors.wrongIndices(array, shape, index);
    }

    @Override
    public String toString() {
        return dtype + " " + Arrays.toString(shape) + " " + order;
    }
}
