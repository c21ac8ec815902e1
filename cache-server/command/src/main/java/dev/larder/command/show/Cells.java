package dev.larder.command.show;

import dev.larder.client.ArrayView;
import dev.larder.internal.view.ViewGeometry;
import dev.larder.npy.Dtype;
import dev.larder.npy.Order;
import java.nio.ByteBuffer;
import java.util.Objects;

/** The elements of an array as bytes: by index, or in the order of memory. Not thread-safe, except for windows. */
public final class Cells {
    private static final int WINDOW_BYTES = 1 << 20;

    private final ArrayView view;
    private final ViewGeometry geometry;
    private final long base;
    private ByteBuffer window = ByteBuffer.allocate(0);
    private long windowOffset;

    private Cells(ArrayView view, ViewGeometry geometry, long base) {
        this.view = view;
        this.geometry = geometry;
        this.base = base;
    }

    /** Reads an array. The caller closes the view. */
    public Cells(ArrayView view) {
        this(view, ViewGeometry.of(view.name(), view.order(), view.dtype(), view.shape()), 0);
    }

    /** Reads elements of a vector as an array of another shape, in C order. */
    Cells(ArrayView vector, long firstElement, long... shape) {
        this(
                vector,
                ViewGeometry.of(vector.name(), Order.C, vector.dtype(), shape),
                firstElement * vector.dtype().itemSize());
        Objects.checkFromIndexSize(firstElement, geometry.elementCount(), vector.elementCount());
    }

    /** Reads the first elements of an array in the order of memory, as many as fit into these bytes, as a vector. */
    public static Cells first(ArrayView view, long byteSize) {
        long count = byteSize / Math.max(1, view.dtype().itemSize());
        return new Cells(view, 0, Math.min(count, view.elementCount()));
    }

    Dtype dtype() {
        return view.dtype();
    }

    /** Returns a copy of the dimensions. */
    public long[] shape() {
        return geometry.shape();
    }

    /** Returns the size of the first dimension; 1 if there is none. */
    public long rows() {
        return geometry.dimensions() == 0 ? 1 : geometry.size(0);
    }

    /** Returns the number of elements. */
    long elementCount() {
        return geometry.elementCount();
    }

    /** Returns the length of all elements in bytes. */
    public long byteSize() {
        return elementCount() * dtype().itemSize();
    }

    /** Returns one element. */
    CellValue at(long... index) {
        int position = moved(geometry.offset(index));
        return new CellValue(dtype(), window.slice(position, dtype().itemSize()));
    }

    /** Returns one element as a number. */
    double number(long... index) {
        int position = moved(geometry.offset(index)); // before the window is read
        return Numbers.at(dtype(), window, position);
    }

    /** Moves the window if necessary, and returns the position of an element in it. */
    private int moved(long offset) {
        int itemSize = dtype().itemSize();
        if (offset < windowOffset || offset + itemSize > windowOffset + window.capacity()) {
            long end = Math.min(byteSize(), offset + Math.max(itemSize, WINDOW_BYTES));
            window = view.dataBuffer(base + offset, (int) (end - offset));
            windowOffset = offset;
        }
        return (int) (offset - windowOffset);
    }

    /** Returns the number of elements that fit into a window. */
    private int windowElements() {
        return Math.max(1, WINDOW_BYTES / Math.max(1, dtype().itemSize()));
    }

    /** Returns the number of windows on all elements. */
    long windows() {
        return (elementCount() + windowElements() - 1) / windowElements();
    }

    /** Returns the bytes of a window, in the order of memory. */
    ByteBuffer window(long number) {
        long first = number * windowElements();
        long count = Math.min(windowElements(), elementCount() - first);
        int itemSize = dtype().itemSize();
        return view.dataBuffer(base + first * itemSize, (int) (count * itemSize));
    }
}
