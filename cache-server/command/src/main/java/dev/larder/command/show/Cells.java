package dev.larder.command.show;

import dev.larder.client.ArrayView;
import dev.larder.npy.Dtype;
import dev.larder.npy.Order;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** The elements of an array, as bytes: by their index, or in the order in which they lie. Used by one thread. */
public final class Cells {
    private static final int WINDOW_BYTES = 1 << 20;

    private final ArrayView view;
    private final Dtype dtype;
    private final long[] shape;
    private final long[] strides;
    private ByteBuffer window = ByteBuffer.allocate(0);
    private long windowOffset;

    /** Reads an array, which is not closed with this. */
    public Cells(ArrayView view) {
        this.view = view;
        this.dtype = view.dtype();
        this.shape = view.shape();
        this.strides = strides(shape, view.order(), dtype.itemSize());
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

    long elementCount() {
        return view.elementCount();
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
            throw new IllegalArgumentException("index=" + Arrays.toString(index) + " rank=" + shape.length);
        }
        long offset = 0;
        for (int i = 0; i < index.length; i++) {
            offset += index[i] * strides[i];
        }
        return offset;
    }

    /** Returns the elements from one on in the order in which they lie: as many as fit, or are left. */
    ByteBuffer elementsFrom(long element) {
        int itemSize = dtype.itemSize();
        long count = Math.min(Math.max(1, WINDOW_BYTES / itemSize), elementCount() - element);
        return view.dataBuffer(element * itemSize, (int) (count * itemSize));
    }

    /** Returns a buffer that stands at an offset and ends after a length. */
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
