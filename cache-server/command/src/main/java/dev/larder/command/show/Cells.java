package dev.larder.command.show;

import dev.larder.client.ArrayView;
import dev.larder.npy.Dtype;
import dev.larder.npy.Order;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;

/** The elements of an array as bytes: by index, or in the order of memory. Not thread-safe, except for windows. */
public final class Cells {
    private static final int WINDOW_BYTES = 1 << 20;

    private final ArrayView view;
    private final Dtype dtype;
    private final long[] shape;
    private final long[] strides;
    private final long base;
    private final long elementCount;
    private ByteBuffer window = ByteBuffer.allocate(0);
    private long windowOffset;

    /** Reads an array. The caller closes the view. */
    public Cells(ArrayView view) {
        this.view = view;
        this.dtype = view.dtype();
        this.shape = view.shape();
        this.strides = strides(shape, view.order(), dtype.itemSize());
        this.base = 0;
        this.elementCount = view.elementCount();
    }

    /** Reads elements of a vector as an array of another shape, in C order. */
    Cells(ArrayView vector, long firstElement, long... shape) {
        this.view = vector;
        this.dtype = vector.dtype();
        this.shape = shape.clone();
        this.strides = strides(shape, Order.C, dtype.itemSize());
        this.base = firstElement * dtype.itemSize();
        this.elementCount = Arrays.stream(shape).reduce(1, Math::multiplyExact);
        Objects.checkFromIndexSize(firstElement, elementCount, vector.elementCount());
    }

    /** Reads the first elements of an array in the order of memory, as many as fit into these bytes, as a vector. */
    public static Cells first(ArrayView view, long byteSize) {
        long count = byteSize / Math.max(1, view.dtype().itemSize());
        return new Cells(view, 0, Math.min(count, view.elementCount()));
    }

    private static long[] strides(long[] shape, Order order, long itemSize) {
        long[] strides = new long[shape.length];
        long stride = itemSize;
        for (int step = 0; step < shape.length; step++) {
            int dimension = order == Order.C ? shape.length - 1 - step : step;
            strides[dimension] = stride;
            stride *= shape[dimension];
        }
        return strides;
    }

    Dtype dtype() {
        return dtype;
    }

    /** Returns a copy of the dimensions. */
    public long[] shape() {
        return shape.clone();
    }

    /** Returns the number of elements. */
    public long elementCount() {
        return elementCount;
    }

    /** Returns the bytes of one element. */
    byte[] at(long... index) {
        byte[] cell = new byte[dtype.itemSize()];
        if (cell.length > 0) {
            stretch(offset(index), cell.length).get(cell);
        }
        return cell;
    }

    /** Returns one element as a number. */
    double number(long... index) {
        ByteBuffer bytes = stretch(offset(index), dtype.itemSize());
        return Numbers.at(dtype, bytes, bytes.position());
    }

    private long offset(long... index) {
        if (index.length != shape.length) {
            throw new IllegalArgumentException("index=" + Arrays.toString(index) + " dimensions=" + shape.length);
        }
        long offset = base;
        for (int i = 0; i < index.length; i++) {
            offset += index[i] * strides[i];
        }
        return offset;
    }

    /** Returns the number of elements that fit into a window. */
    int windowElements() {
        return Math.max(1, WINDOW_BYTES / Math.max(1, dtype.itemSize()));
    }

    /** Returns the elements from one on, in the order of memory: as many as fit, or the remaining ones. */
    ByteBuffer elementsFrom(long element) {
        int itemSize = dtype.itemSize();
        long count = Math.min(windowElements(), elementCount() - element);
        return view.dataBuffer(base + element * itemSize, (int) (count * itemSize));
    }

    /** Returns a buffer with its position at an offset and this length. */
    private ByteBuffer stretch(long offset, int length) {
        if (offset < windowOffset || offset + length > windowOffset + window.capacity()) {
            long end = Math.min(view.byteSize(), Math.max(offset + length, offset + WINDOW_BYTES));
            window = view.dataBuffer(offset, (int) (end - offset));
            windowOffset = offset;
        }
        int position = (int) (offset - windowOffset);
        window.limit(position + length).position(position);
        return window;
    }
}
