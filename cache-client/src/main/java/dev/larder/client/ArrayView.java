package dev.larder.client;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.RawMemory;
import dev.larder.internal.rows.RowGather;
import dev.larder.internal.view.Accessors;
import dev.larder.internal.view.Dates;
import dev.larder.internal.view.ElementReader;
import dev.larder.internal.view.StridedRows;
import dev.larder.internal.view.Targets;
import dev.larder.internal.view.Texts;
import dev.larder.internal.view.ViewGeometry;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import dev.larder.npy.Order;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A read-only, zero-copy view of one array in shared memory.
 *
 * <p>Thread-safe, even while another thread closes the view: an access then either returns the array's contents or throws
 * {@link IllegalStateException}. It never crashes the JVM. An index out of range throws {@link IndexOutOfBoundsException}, and
 * a wrong number of indices {@link IllegalArgumentException}.
 *
 * <p>A view belongs to its {@link Dataset}, which returns the same view to every caller and closes it. Only {@link Larder#open}
 * returns a view that its caller closes: an {@link OwnedArrayView}.
 */
public sealed class ArrayView permits OwnedArrayView {
    private static final VarHandle OPEN = openHandle();

    private final ArrayEntry entry;
    private final Dtype dtype;
    private final ElementReader.Kind kind;
    private final boolean isInteger;
    private final boolean swapped;
    private final int plainCode;
    private final MappedMemory memory;

    /** Keeps the dataset reachable, because the garbage collector closes an unreachable one. */
    final Dataset owner;

    private final ViewGeometry geometry;
    private final long base;
    private final int dimensions;
    private final long size0;
    private final long size0Of1;
    private final long size0Of2;
    private final long size1Of2;
    private final long size0Of3;
    private final long size1Of3;
    private final long size2Of3;
    private final long stride0;
    private final long stride1;
    private final long stride2;
    private final long rowByteSize;
    private final StridedRows strided;
    private final RowGather gather;

    @SuppressWarnings({"FieldMayBeFinal", "UnusedVariable"}) // through OPEN
    private boolean open = true;

    /** The views that {@link #windows} has created, by window length; guarded by itself. */
    private final Map<Long, ArrayView> windows = new TreeMap<>();

    ArrayView(ArrayEntry entry, MappedMemory memory, Dataset owner) {
        this(entry, memory, owner, ViewGeometry.of(entry, Dtype.parse(entry.dtype())));
    }

    private ArrayView(ArrayEntry entry, MappedMemory memory, Dataset owner, ViewGeometry geometry) {
        this.entry = entry;
        this.dtype = Dtype.parse(entry.dtype());
        this.kind = ElementReader.Kind.of(dtype);
        this.isInteger = kind != ElementReader.Kind.OTHER && dtype.kind() != Kind.FLOAT;
        this.swapped = !dtype.isLittleEndian();
        this.plainCode = swapped ? 0 : ElementReader.plainCode(kind);
        this.memory = memory;
        this.owner = owner;
        this.geometry = geometry;
        this.base = memory.address() + entry.offset();
        this.dimensions = geometry.dimensions();
        this.size0 = geometry.size(0);
        this.size0Of1 = dimensions == 1 ? size0 : 0;
        this.size0Of2 = dimensions == 2 ? size0 : 0;
        this.size1Of2 = dimensions == 2 ? geometry.size(1) : 0;
        this.size0Of3 = dimensions == 3 ? size0 : 0;
        this.size1Of3 = dimensions == 3 ? geometry.size(1) : 0;
        this.size2Of3 = dimensions == 3 ? geometry.size(2) : 0;
        this.stride0 = geometry.stride(0);
        this.stride1 = geometry.stride(1);
        this.stride2 = geometry.stride(2);
        this.rowByteSize = geometry.rowByteSize();
        this.strided = new StridedRows(geometry, dtype.itemSize());
        this.gather = new RowGather(entry.name(), base, size0, rowByteSize, stride0);
        Objects.checkFromIndexSize(entry.offset(), entry.byteSize(), memory.byteSize());
    }

    /** Returns the dataset that contains this array. */
    public Dataset dataset() {
        return owner;
    }

    /** Returns the array's name within its dataset. */
    public String name() {
        return entry.name();
    }

    /** Returns the type of the elements. */
    public Dtype dtype() {
        return dtype;
    }

    /** Returns the dimensions, as a new array. */
    public long[] shape() {
        return geometry.shape();
    }

    /** Returns the number of dimensions. */
    public int dimensions() {
        return dimensions;
    }

    /** Returns the order of elements in memory. */
    public Order order() {
        return geometry.order();
    }

    /** Returns the number of elements. */
    public long elementCount() {
        return geometry.elementCount();
    }

    /** Returns the length of the data in bytes. */
    public long byteSize() {
        return entry.byteSize();
    }

    /** Returns the CRC32C of the data, as computed when it was loaded. */
    public int crc32c() {
        return entry.crc32c();
    }

    /** Returns the size of the first dimension. Refuses a 0-d array, which has no rows. */
    public long rows() {
        requireRows();
        return size0;
    }

    /** Returns the length in bytes of one row, which is all elements with the same first index. */
    public long rowByteSize() {
        requireRows();
        return rowByteSize;
    }

    /**
     * Returns a view of all windows of {@code length} consecutive rows, without copying. Row {@code i} of it contains the rows
     * {@code i} to {@code i + length - 1} of this array, so its shape is {@code [rows - length + 1, length, …]}, as with
     * numpy's {@code sliding_window_view}. Its rows overlap, so {@link #byteBuffer} returns only one row at a time.
     * {@link #byteSize}, {@link #crc32c} and {@link #dataBuffer} refer to the underlying data. Every caller gets the same view,
     * which closes with this one. Throws {@link IllegalArgumentException} if a window is longer than the array.
     */
    public ArrayView windows(long length) {
        requireRows();
        if (length < 1 || length > size0) {
            throw new IllegalArgumentException(
                    "window length is out of range: length=" + length + " array=" + entry.name() + " rows=" + size0);
        }
        synchronized (windows) {
            ArrayView view = windows.get(length);
            if (view == null) {
                view = new ArrayView(entry, memory, owner, geometry.windows(dtype, length));
                windows.put(length, view);
            }
            requireOpen(); // checked after the view is in the map: a concurrent close either finds it there or makes
            // this throw
            return view;
        }
    }

    /** Returns one element as a float, rounded if it has more digits. */
    public float getFloat(long i) {
        return floatAt(address(i));
    }

    /** Returns one element as a float, rounded if it has more digits. */
    public float getFloat(long i, long j) {
        return floatAt(address(i, j));
    }

    /** Returns one element as a float, rounded if it has more digits. */
    public float getFloat(long i, long j, long k) {
        return floatAt(address(i, j, k));
    }

    /** Returns one element as a float, rounded if it has more digits. */
    public float getFloat(long... index) {
        return floatAt(address(index));
    }

    /** Returns one element as a double, rounded if it is a large 64-bit integer. */
    public double getDouble(long i) {
        return doubleAt(address(i));
    }

    /** Returns one element as a double, rounded if it is a large 64-bit integer. */
    public double getDouble(long i, long j) {
        return doubleAt(address(i, j));
    }

    /** Returns one element as a double, rounded if it is a large 64-bit integer. */
    public double getDouble(long i, long j, long k) {
        return doubleAt(address(i, j, k));
    }

    /** Returns one element as a double, rounded if it is a large 64-bit integer. */
    public double getDouble(long... index) {
        return doubleAt(address(index));
    }

    /** Returns one element of an integer, boolean or date array. Throws ArithmeticException for a uint64 above {@code Long.MAX_VALUE}. */
    public long getLong(long i) {
        return longAt(address(i), "getLong");
    }

    /** Returns one element of an integer, boolean or date array. Throws ArithmeticException for a uint64 above {@code Long.MAX_VALUE}. */
    public long getLong(long i, long j) {
        return longAt(address(i, j), "getLong");
    }

    /** Returns one element of an integer, boolean or date array. Throws ArithmeticException for a uint64 above {@code Long.MAX_VALUE}. */
    public long getLong(long i, long j, long k) {
        return longAt(address(i, j, k), "getLong");
    }

    /** Returns one element of an integer, boolean or date array. Throws ArithmeticException for a uint64 above {@code Long.MAX_VALUE}. */
    public long getLong(long... index) {
        return longAt(address(index), "getLong");
    }

    /** Returns one element of an integer, boolean or date array. Throws ArithmeticException if it does not fit an int. */
    public int getInt(long i) {
        return intAt(address(i));
    }

    /** Returns one element of an integer, boolean or date array. Throws ArithmeticException if it does not fit an int. */
    public int getInt(long i, long j) {
        return intAt(address(i, j));
    }

    /** Returns one element of an integer, boolean or date array. Throws ArithmeticException if it does not fit an int. */
    public int getInt(long i, long j, long k) {
        return intAt(address(i, j, k));
    }

    /** Returns one element of an integer, boolean or date array. Throws ArithmeticException if it does not fit an int. */
    public int getInt(long... index) {
        return intAt(address(index));
    }

    /** Returns the real part of one element of a complex array. */
    public double getReal(long... index) {
        return partAt(address(index), 0);
    }

    /** Returns the imaginary part of one element of a complex array. */
    public double getImaginary(long... index) {
        return partAt(address(index), dtype.itemSize() / 2);
    }

    /**
     * Returns one element of an array of fixed-length texts, without its zero padding. The dtype is {@code U}, or {@code S},
     * whose bytes are decoded as UTF-8. Invalid text becomes U+FFFD; {@link #row} returns its bytes.
     */
    public String getString(long... index) {
        if (!Texts.isText(dtype)) {
            throw Accessors.refusal("getString", entry.name(), dtype);
        }
        String value = Texts.read(dtype, address(index));
        requireOpen();
        return value;
    }

    /**
     * Returns one element of an array of dates, truncated to nanoseconds, or null if it is numpy's NaT. Throws
     * {@link ArithmeticException} if the date has no unit or does not fit an {@link Instant}. {@link #getLong} returns the raw
     * count.
     */
    public @Nullable Instant getInstant(long... index) {
        if (dtype.kind() != Kind.DATETIME) {
            throw Accessors.refusal("getInstant", entry.name(), dtype);
        }
        return Dates.instant(dtype, longAt(address(index), "getInstant"));
    }

    /**
     * Returns a window on one row, without copying. Refuses rows above 1 GiB and rows that are not contiguous, as in a
     * Fortran-ordered array of several dimensions.
     */
    public DirectBuffer row(long row) {
        ViewBuffer window = new ViewBuffer();
        row(row, window);
        return window;
    }

    /** Points the caller's window at one row, as {@link #row(long)} does, but allocates nothing. Use it to read many rows. */
    public void row(long row, ViewBuffer window) {
        requireContiguousRows();
        Objects.checkIndex(row, size0);
        requireRowsThatFitBuffers();
        requireOpen();
        window.point(this, base + row * stride0, (int) rowByteSize);
    }

    /**
     * Returns a read-only buffer over consecutive rows, without copying, in the byte order of the elements; at most 2 GiB. It
     * stays valid memory as long as it is reachable, but reads as zeros after the view is closed.
     *
     * <p>An array that was loaded in place is stored in a file of its owner. If that file is truncated while native code reads
     * the buffer, such as {@code CRC32C.update} or a write to a channel, the JVM ends with SIGBUS. The view's own methods throw
     * instead, so copy with {@link #copyRows} first if the owner may truncate the file.
     */
    public ByteBuffer byteBuffer(long firstRow, long rows) {
        requireContiguousRows();
        Objects.checkFromIndexSize(firstRow, rows, size0);
        if (rows > 1 && stride0 != rowByteSize) {
            throw new UnsupportedOperationException(
                    "windows overlap, so a buffer contains only one: array=" + entry.name());
        }
        long length = rows * rowByteSize;
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("rows do not fit into a ByteBuffer: rows=" + rows + " bytes=" + length
                    + " limit=" + Integer.MAX_VALUE);
        }
        ByteBuffer buffer = memory.buffer(entry.offset() + firstRow * stride0, length, this);
        requireOpen();
        return buffer.order(dtype.byteOrder());
    }

    /**
     * Returns a read-only buffer over a range of the data in memory order, without copying, in the byte order of the elements.
     * The conditions of {@link #byteBuffer} apply.
     */
    public ByteBuffer dataBuffer(long position, int size) {
        return dataBuffer(position, size, 0);
    }

    /** Returns the buffer of {@link #dataBuffer}, extended at the front to the start of its first page. Devices need whole pages. */
    public ByteBuffer pageBuffer(long position, int size) {
        return dataBuffer(position, size, (int) ((address() + position) % PageSize.BYTES));
    }

    private ByteBuffer dataBuffer(long position, int size, int before) {
        Objects.checkFromIndexSize(position, size, entry.byteSize());
        ByteBuffer buffer = memory.buffer(entry.offset() + position - before, (long) before + size, this);
        requireOpen();
        return buffer.order(dtype.byteOrder());
    }

    /**
     * Gathers rows: copies row {@code rows[i]} to {@code targetOffset + i * rowByteSize()}, in C order. Allocates nothing. If
     * the view is closed during the copy, this throws and the contents of the target are undefined. Rows of a Fortran-ordered
     * array are copied element by element, which is many times slower.
     */
    public void copyRows(long[] rows, MutableDirectBuffer target, int targetOffset) {
        copyRows(rows, 0, rows.length, target, targetOffset);
    }

    /** Gathers {@code rows[first]} to {@code rows[first + count - 1]} as {@link #copyRows(long[], MutableDirectBuffer, int)} does. */
    public void copyRows(long[] rows, int first, int count, MutableDirectBuffer target, int targetOffset) {
        requireRows();
        requireRowIndices(rows, first, count);
        requireRowsThatFitBuffers();
        Targets.requireWritable(target, targetOffset, Math.multiplyExact(count, rowByteSize));
        int length = (int) rowByteSize;
        if (length == 0) { // empty rows have no memory: not one byte may be touched
            requireOpen();
            return;
        }
        if (!geometry.hasContiguousRows()) {
            gatherStrided(rows, first, first + count, target, targetOffset);
        } else if (target instanceof UnsafeBuffer raw) {
            gather(rows, first, first + count, raw, targetOffset);
        } else {
            for (int i = 0; i < count; i++) {
                Targets.copy(
                        base + gather.checkedRow(rows, first + i) * stride0, target, targetOffset + i * length, length);
            }
        }
        requireOpen();
    }

    /** Gathers rows into a direct or heap buffer, starting at the absolute {@code targetOffset}. The buffer's position does not change. */
    public void copyRows(long[] rows, ByteBuffer target, int targetOffset) {
        Targets.requireWritable(target, targetOffset, 0);
        copyRows(rows, 0, rows.length, new UnsafeBuffer(target), targetOffset);
    }

    private void gatherStrided(long[] rows, int first, int end, MutableDirectBuffer target, int targetOffset) {
        byte[] row = target instanceof UnsafeBuffer ? null : new byte[(int) rowByteSize];
        try {
            for (int i = first; i < end; i++) {
                long address = base + gather.checkedRow(rows, i) * stride0;
                int to = targetOffset + (i - first) * (int) rowByteSize;
                if (row == null) {
                    strided.copy(address, target.byteArray(), target.addressOffset() + to);
                } else {
                    strided.copy(address, row, RawMemory.arrayOffset(byte[].class));
                    target.putBytes(to, row);
                }
            }
        } finally {
            Reference.reachabilityFence(target);
        }
    }

    private void gather(long[] rows, int first, int end, UnsafeBuffer target, int targetOffset) {
        try {
            gather.copy(rows, first, end, target.byteArray(), target.addressOffset() + targetOffset);
        } finally {
            Reference.reachabilityFence(target);
        }
    }

    /**
     * Returns the address of the data in this process, for JOCL, CUDA and JNI. It bypasses every check: the caller must not
     * write there, and after the view is closed neither the caller nor a device may read there.
     */
    public long address() {
        requireOpen();
        return base;
    }

    /**
     * Returns the address of the data, for columns. They check bounds before a read and {@link #requireOpen} after it, as this
     * class does.
     */
    long base() {
        return base;
    }

    /** Returns whether the view can be read. */
    public boolean isOpen() {
        VarHandle.loadLoadFence();
        return (boolean) OPEN.getOpaque(this);
    }

    /**
     * Throws if the view is closed. A caller that read memory before this call may then trust it: closing sets the flag before
     * it changes the mapping, and the mapping lasts while this view is reachable.
     */
    void requireOpen() {
        VarHandle.loadLoadFence();
        if (!(boolean) OPEN.getOpaque(this)) {
            throw new IllegalStateException("array view is closed: array=" + entry.name() + "; keep its dataset open");
        }
    }

    /** Makes later reads throw, because the dataset is being closed. */
    void invalidate() {
        OPEN.setVolatile(this, false);
        synchronized (windows) {
            windows.values().forEach(ArrayView::invalidate);
        }
    }

    private float floatAt(long address) {
        float value = plainCode == ElementReader.PLAIN_FLOAT32
                ? Float.intBitsToFloat(RawMemory.getInt(address))
                : isNumber() ? ElementReader.toFloat(kind, address, swapped) : refuse("getFloat");
        requireOpen();
        return value;
    }

    private double doubleAt(long address) {
        double value = plainCode == ElementReader.PLAIN_FLOAT64
                ? Double.longBitsToDouble(RawMemory.getLong(address))
                : isNumber() ? ElementReader.toDouble(kind, address, swapped) : refuse("getDouble");
        requireOpen();
        return value;
    }

    private double partAt(long address, int offset) {
        if (!ElementReader.isComplex(dtype)) {
            throw Accessors.refusal("getReal", entry.name(), dtype);
        }
        ElementReader.Kind part = ElementReader.partOf(dtype);
        double value = ElementReader.toDouble(part, address + offset, swapped);
        requireOpen();
        return value;
    }

    private long longAt(long address, String method) {
        long value = plainCode == ElementReader.PLAIN_INT64
                ? RawMemory.getLong(address)
                : isInteger ? ElementReader.toLong(kind, address, swapped) : refuse(method);
        requireOpen();
        if (value < 0 && kind == ElementReader.Kind.UINT64) {
            throw new ArithmeticException("uint64 above Long.MAX_VALUE: value=" + Long.toUnsignedString(value)
                    + "; Long.parseUnsignedLong arithmetic works on row(…) bytes");
        }
        return value;
    }

    private boolean isNumber() {
        return kind != ElementReader.Kind.OTHER;
    }

    /** Always throws. The return type allows its use in expressions. */
    private byte refuse(String method) {
        throw Accessors.refusal(method, entry.name(), dtype);
    }

    private int intAt(long address) {
        return Math.toIntExact(longAt(address, "getInt"));
    }

    /*
     * Returns the address of an element. If the number of indices is wrong, the sizes in use are zero, so one comparison finds
     * both mistakes.
     */

    private long address(long i) {
        if (i < 0 || i >= size0Of1) {
            throw geometry.refusal(i);
        }
        return base + i * stride0;
    }

    private long address(long i, long j) {
        if (i < 0 || i >= size0Of2 || j < 0 || j >= size1Of2) {
            throw geometry.refusal(i, j);
        }
        return base + i * stride0 + j * stride1;
    }

    private long address(long i, long j, long k) {
        if (i < 0 || i >= size0Of3 || j < 0 || j >= size1Of3 || k < 0 || k >= size2Of3) {
            throw geometry.refusal(i, j, k);
        }
        return base + i * stride0 + j * stride1 + k * stride2;
    }

    private long address(long... index) {
        return base + geometry.offset(index);
    }

    private void requireRowIndices(long[] rows, int first, int count) {
        Objects.checkFromIndexSize(first, count, rows.length);
        for (int i = first; i < first + count; i++) {
            gather.checkedRow(rows, i);
        }
    }

    private void requireRowsThatFitBuffers() {
        if (rowByteSize > Integer.MAX_VALUE) {
            throw new UnsupportedOperationException("row is longer than a DirectBuffer can be: rowByteSize="
                    + rowByteSize + " limit=" + Integer.MAX_VALUE + "; read elements, or see address()");
        }
    }

    private void requireRows() {
        if (dimensions == 0) {
            throw new UnsupportedOperationException("a 0-d array has no rows: array=" + entry.name());
        }
    }

    private void requireContiguousRows() {
        requireRows();
        if (!geometry.hasContiguousRows()) {
            throw new UnsupportedOperationException("rows of a Fortran-ordered array are not contiguous: array="
                    + entry.name() + "; save it in C order, or read elements");
        }
    }

    @Override
    public String toString() {
        return "ArrayView{" + entry.name() + " " + geometry + "}";
    }

    private static VarHandle openHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(ArrayView.class, "open", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
