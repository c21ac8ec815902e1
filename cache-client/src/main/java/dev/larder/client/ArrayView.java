package dev.larder.client;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.number.Accessors;
import dev.larder.internal.number.Dates;
import dev.larder.internal.number.ElementReader;
import dev.larder.internal.number.Texts;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.RawMemory;
import dev.larder.internal.rows.RowGather;
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
 * <p>All methods may be called from any thread, also while another closes the view: an access then either returns what the
 * array holds or throws {@link IllegalStateException}; it never crashes the JVM. Indices out of range are
 * {@link IndexOutOfBoundsException}, a wrong number of indices an {@link IllegalArgumentException}.
 *
 * <p>A view belongs to its {@link Dataset}, which hands the same one to every caller and closes it. Only {@link Larder#open} gives
 * one that its caller closes: an {@link OwnedArrayView}.
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

    /** Reachable for as long as this, or the garbage collector would close it while it is read. */
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

    /** Views of its windows that were asked for, by their length; guarded by itself. */
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

    /** Returns the dataset that it belongs to. */
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

    /** Returns the size of the first dimension. A 0-d array has no rows and is refused. */
    public long rows() {
        requireRows();
        return size0;
    }

    /** Returns the length in bytes of one row: everything under one index of the first dimension. */
    public long rowByteSize() {
        requireRows();
        return rowByteSize;
    }

    /**
     * Returns a view of all windows of so many neighbouring rows, without copying: its row {@code i} has the rows {@code i} to {@code
     * i + length - 1} of this one, so its shape is {@code [rows - length + 1, length, …]}. numpy calls it {@code
     * sliding_window_view}. Its rows overlap, so {@link #byteBuffer} gives one at a time; {@link #byteSize}, {@link #crc32c} and
     * {@link #dataBuffer} are those of the data. The same view to every caller, closed with this one. Fails with {@link
     * IllegalArgumentException} where a window would be longer than the array.
     */
    public ArrayView windows(long length) {
        requireRows();
        if (length < 1 || length > size0) {
            throw new IllegalArgumentException("a window has at least one row, and at most all of the array: length="
                    + length + " array=" + entry.name() + " rows=" + size0);
        }
        synchronized (windows) {
            ArrayView view = windows.get(length);
            if (view == null) {
                view = new ArrayView(entry, memory, owner, geometry.windows(dtype, length));
                windows.put(length, view);
            }
            requireOpen(); // after it is known to whoever closes this, so it is either closed as well or refused
            return view;
        }
    }

    /** Returns one element as a float, rounded where it has more digits. */
    public float getFloat(long i) {
        return floatAt(address(i));
    }

    /** Returns one element as a float, rounded where it has more digits. */
    public float getFloat(long i, long j) {
        return floatAt(address(i, j));
    }

    /** Returns one element as a float, rounded where it has more digits. */
    public float getFloat(long i, long j, long k) {
        return floatAt(address(i, j, k));
    }

    /** Returns one element as a float, rounded where it has more digits. */
    public float getFloat(long... index) {
        return floatAt(address(index));
    }

    /** Returns one element as a double, rounded where it is a large 64-bit integer. */
    public double getDouble(long i) {
        return doubleAt(address(i));
    }

    /** Returns one element as a double, rounded where it is a large 64-bit integer. */
    public double getDouble(long i, long j) {
        return doubleAt(address(i, j));
    }

    /** Returns one element as a double, rounded where it is a large 64-bit integer. */
    public double getDouble(long i, long j, long k) {
        return doubleAt(address(i, j, k));
    }

    /** Returns one element as a double, rounded where it is a large 64-bit integer. */
    public double getDouble(long... index) {
        return doubleAt(address(index));
    }

    /** Returns one element of an integer, boolean or date array; a uint64 above {@code Long.MAX_VALUE} is an ArithmeticException. */
    public long getLong(long i) {
        return longAt(address(i));
    }

    /** Returns one element of an integer, boolean or date array; a uint64 above {@code Long.MAX_VALUE} is an ArithmeticException. */
    public long getLong(long i, long j) {
        return longAt(address(i, j));
    }

    /** Returns one element of an integer, boolean or date array; a uint64 above {@code Long.MAX_VALUE} is an ArithmeticException. */
    public long getLong(long i, long j, long k) {
        return longAt(address(i, j, k));
    }

    /** Returns one element of an integer, boolean or date array; a uint64 above {@code Long.MAX_VALUE} is an ArithmeticException. */
    public long getLong(long... index) {
        return longAt(address(index));
    }

    /** Returns one element of an integer, boolean or date array; one that does not fit is an ArithmeticException. */
    public int getInt(long i) {
        return intAt(address(i));
    }

    /** Returns one element of an integer, boolean or date array; one that does not fit is an ArithmeticException. */
    public int getInt(long i, long j) {
        return intAt(address(i, j));
    }

    /** Returns one element of an integer, boolean or date array; one that does not fit is an ArithmeticException. */
    public int getInt(long i, long j, long k) {
        return intAt(address(i, j, k));
    }

    /** Returns one element of an integer, boolean or date array; one that does not fit is an ArithmeticException. */
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
     * Returns one element of an array of texts of fixed length, without the zeros that fill it up: of dtype {@code U}, or of dtype
     * {@code S}, whose bytes are taken as UTF-8. What is no proper text becomes U+FFFD; its bytes are in {@link #row}.
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
     * Returns one element of an array of dates, cut to whole nanoseconds; null where it is numpy's NaT. A date without a unit or
     * beyond what an {@link Instant} can hold is an {@link ArithmeticException}; {@link #getLong} gives the bare count.
     */
    public @Nullable Instant getInstant(long... index) {
        if (dtype.kind() != Kind.DATETIME) {
            throw Accessors.refusal("getInstant", entry.name(), dtype);
        }
        return Dates.instant(dtype, longAt(address(index)));
    }

    /**
     * Returns a window on one row, without copying. Rows of a Fortran-ordered array with several dimensions are not contiguous
     * and are refused, as are rows above 1 GiB.
     */
    public DirectBuffer row(long row) {
        ViewBuffer window = new ViewBuffer();
        row(row, window);
        return window;
    }

    /** Points a window of the caller's at one row, as {@link #row(long)} does: for many rows, as it allocates nothing. */
    public void row(long row, ViewBuffer window) {
        requireContiguousRows();
        Objects.checkIndex(row, size0);
        requireRowsThatFitBuffers();
        requireOpen();
        window.point(this, base + row * stride0, (int) rowByteSize);
    }

    /**
     * Returns a read-only buffer over consecutive rows, without copying, in the byte order of the elements; at most 2 GiB. It
     * stays valid memory for as long as it is reachable, but reads as zeros once the view is closed.
     *
     * <p>An array that was loaded in place lies in a file of its owner. Where that file is truncated while native code reads the
     * buffer, such as {@code CRC32C.update} or a channel that writes it, the JVM ends with SIGBUS. The view's own methods throw
     * instead: copy with {@link #copyRows} first where the owner may truncate the file.
     */
    public ByteBuffer byteBuffer(long firstRow, long rows) {
        requireContiguousRows();
        Objects.checkFromIndexSize(firstRow, rows, size0);
        if (rows > 1 && stride0 != rowByteSize) {
            throw new UnsupportedOperationException("windows overlap, a buffer can have one: array=" + entry.name());
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
     * Returns a read-only buffer over a stretch of the data as it lies in memory, whatever its order, without copying, in the byte
     * order of the elements. It stays valid memory for as long as it is reachable, but reads as zeros once the view is closed.
     *
     * <p>An array that was loaded in place lies in a file of its owner. Where that file is truncated while native code reads the
     * buffer, such as {@code CRC32C.update} or a channel that writes it, the JVM ends with SIGBUS. The view's own methods throw
     * instead: copy with {@link #copyRows} first where the owner may truncate the file.
     */
    public ByteBuffer dataBuffer(long position, int size) {
        return dataBuffer(position, size, 0);
    }

    /** Returns the same buffer from the start of the page of its first byte on, with the bytes of the file before it: for devices. */
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
     * Gathers rows: copies row {@code rows[i]} to {@code targetOffset + i * rowByteSize()}, in C order. Allocates nothing. Where the
     * view is closed meanwhile, the target's contents are undefined and the call throws. Rows of an array in Fortran order are put
     * together element by element, each from another place of memory: many times slower than rows that lie in one piece.
     */
    public void copyRows(long[] rows, MutableDirectBuffer target, int targetOffset) {
        copyRows(rows, 0, rows.length, target, targetOffset);
    }

    /** Gathers the rows {@code rows[first]} to {@code rows[first + count - 1]}, in the same way. */
    public void copyRows(long[] rows, int first, int count, MutableDirectBuffer target, int targetOffset) {
        requireRows();
        requireRowIndices(rows, first, count);
        requireRowsThatFitBuffers();
        Targets.requireWritable(target, targetOffset, Math.multiplyExact(count, rowByteSize));
        int length = (int) rowByteSize;
        if (length == 0) { // no memory stands behind rows of nothing: not even a byte may be touched
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

    /** Gathers rows into a direct or heap buffer, from the absolute {@code targetOffset} on; its position stays as it is. */
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
     * Returns where the data starts in this process, for JOCL, CUDA and JNI. This is the one way around every check: the caller
     * must not write there, and must neither read nor let a device read after the view was closed.
     */
    public long address() {
        requireOpen();
        return base;
    }

    /**
     * Returns where the data starts, for columns: they check bounds before they read and {@link #requireOpen} after, as this class
     * does.
     */
    long base() {
        return base;
    }

    /** Tells whether the view can be read. */
    public boolean isOpen() {
        VarHandle.loadLoadFence();
        return (boolean) OPEN.getOpaque(this);
    }

    /**
     * Vouches for everything that was read before this call: the mapping is changed only after the flag, and stays mapped while
     * this view, whose flag is read here, can be reached.
     */
    void requireOpen() {
        VarHandle.loadLoadFence();
        if (!(boolean) OPEN.getOpaque(this)) {
            throw new IllegalStateException("array view is closed: array=" + entry.name());
        }
    }

    /** Makes later reads throw: the dataset is being closed. */
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

    private long longAt(long address) {
        long value = plainCode == ElementReader.PLAIN_INT64
                ? RawMemory.getLong(address)
                : isInteger ? ElementReader.toLong(kind, address, swapped) : refuse("getLong");
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

    /** Never returns; its type is for expressions. */
    private byte refuse(String method) {
        throw Accessors.refusal(method, entry.name(), dtype);
    }

    private int intAt(long address) {
        return Math.toIntExact(longAt(address));
    }

    /* With a wrong number of indices the sizes in use are zeros, so one comparison finds both mistakes. */

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
