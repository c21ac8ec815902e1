package dev.larder.loader;

import dev.larder.internal.view.Accessors;
import dev.larder.internal.view.Dates;
import dev.larder.internal.view.ElementReader;
import dev.larder.internal.view.Texts;
import dev.larder.loader.internal.ring.DeliveredBatch;
import dev.larder.loader.internal.slot.ArrayMemory;
import dev.larder.loader.internal.slot.BatchSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One array of a {@link Batch}: the rows of its samples one after the other, in C order, stored or transformed. Open as long as its
 * batch.
 *
 * <p>On the host it reads as an {@link dev.larder.client.ArrayView} does: {@code getFloat(i, j, k)}, {@link #row}. Only windows
 * allocate. An index out of range throws {@link IndexOutOfBoundsException}, a wrong number of indices {@link IllegalArgumentException},
 * a closed batch {@link IllegalStateException}. On a device these methods fail: pass {@link #handle} or {@link #nativeObject} to the
 * device's own library, or copy the bytes with {@link #read}.
 *
 * <p>The names of its parts are those of DLPack (dmlc/dlpack, {@code DLTensor}). Bytes are in the byte order of {@link #dtype}.
 */
public final class BatchArray {
    private final DeliveredBatch delivery;
    private final int part;
    private final int place;
    private final OutputArray description;
    private final ElementReader.Kind kind;
    private final boolean isInteger;
    private final boolean swapped;

    BatchArray(DeliveredBatch delivery, int part, int place, OutputArray description) {
        this.delivery = delivery;
        this.part = part;
        this.place = place;
        this.description = description;
        Dtype dtype = description.dtype();
        this.kind = ElementReader.Kind.of(dtype);
        this.isInteger = kind != ElementReader.Kind.OTHER && dtype.kind() != Kind.FLOAT;
        this.swapped = !dtype.isLittleEndian();
    }

    /** Returns the array's name in batches: that of its field, or one derived from it. */
    public String name() {
        return description.name();
    }

    /** Returns the type of the elements. */
    public Dtype dtype() {
        return description.dtype();
    }

    /** Returns the dimensions as a new array: usually the samples of the batch or its part, then those of a row. */
    public long[] shape() {
        return memory().shape.clone();
    }

    /** Returns one dimension. Allocates nothing. */
    public long dimension(int number) {
        return memory().shape[number];
    }

    /** Returns the number of dimensions. */
    public int dimensions() {
        return memory().shape.length;
    }

    /** Returns the size of the first dimension: usually the number of samples. */
    public long rows() {
        return memory().shape[0];
    }

    /** Returns the number of elements from one index to the next in each dimension, as a new array. */
    public long[] strides() {
        long[] strides = shape();
        long stride = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            long size = strides[i];
            strides[i] = stride;
            stride *= size;
        }
        return strides;
    }

    /** Returns the length of one row in bytes. */
    public int rowByteSize() {
        long bytes = description.dtype().itemSize();
        long[] shape = memory().shape;
        for (int i = 1; i < shape.length; i++) {
            bytes *= shape[i];
        }
        return (int) bytes;
    }

    /** Returns the length of all rows in bytes: on the host, it fits an {@code int}. */
    public long byteSize() {
        return memory().byteSize();
    }

    // ---- on the host

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

    /** Returns one element of an integer, boolean or date array; a uint64 above {@code Long.MAX_VALUE} is an ArithmeticException. */
    public long getLong(long i) {
        return longAt(address(i), "getLong");
    }

    /** Returns one element of an integer, boolean or date array; a uint64 above {@code Long.MAX_VALUE} is an ArithmeticException. */
    public long getLong(long i, long j) {
        return longAt(address(i, j), "getLong");
    }

    /** Returns one element of an integer, boolean or date array; a uint64 above {@code Long.MAX_VALUE} is an ArithmeticException. */
    public long getLong(long i, long j, long k) {
        return longAt(address(i, j, k), "getLong");
    }

    /** Returns one element of an integer, boolean or date array; a uint64 above {@code Long.MAX_VALUE} is an ArithmeticException. */
    public long getLong(long... index) {
        return longAt(address(index), "getLong");
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
        return partAt(address(index), dtype().itemSize() / 2);
    }

    /** Returns one element of an array of texts of fixed length, as {@link dev.larder.client.ArrayView#getString} does. */
    public String getString(long... index) {
        if (!Texts.isText(dtype())) {
            throw Accessors.refusal("getString", name(), dtype());
        }
        String value = Texts.read(dtype(), address(index));
        requireOpen();
        return value;
    }

    /** Returns one element of an array of dates, as {@link dev.larder.client.ArrayView#getInstant} does, or null if it is NaT. */
    public @Nullable Instant getInstant(long... index) {
        if (dtype().kind() != Kind.DATETIME) {
            throw Accessors.refusal("getInstant", name(), dtype());
        }
        return Dates.instant(dtype(), longAt(address(index), "getInstant"));
    }

    /** Returns a window on one row, without copying. Do not use it after the batch is closed: it then contains another batch. */
    public DirectBuffer row(long row) {
        SlotArray array = onHost();
        Objects.checkIndex(row, array.shape[0]);
        int length = rowByteSize();
        return new UnsafeBuffer(array.filled, (int) row * length, length);
    }

    private float floatAt(long address) {
        if (kind == ElementReader.Kind.OTHER) {
            throw Accessors.refusal("getFloat", name(), dtype());
        }
        float value = ElementReader.toFloat(kind, address, swapped);
        requireOpen();
        return value;
    }

    private double doubleAt(long address) {
        if (kind == ElementReader.Kind.OTHER) {
            throw Accessors.refusal("getDouble", name(), dtype());
        }
        double value = ElementReader.toDouble(kind, address, swapped);
        requireOpen();
        return value;
    }

    private int intAt(long address) {
        return Math.toIntExact(longAt(address, "getInt"));
    }

    private long longAt(long address, String method) {
        if (!isInteger) {
            throw Accessors.refusal(method, name(), dtype());
        }
        long value = ElementReader.toLong(kind, address, swapped);
        requireOpen();
        if (value < 0 && kind == ElementReader.Kind.UINT64) {
            throw new ArithmeticException("uint64 above Long.MAX_VALUE: value=" + Long.toUnsignedString(value)
                    + "; Long.parseUnsignedLong arithmetic works on row(…) bytes");
        }
        return value;
    }

    private double partAt(long address, int offset) {
        if (!ElementReader.isComplex(dtype())) {
            throw Accessors.refusal("getReal", name(), dtype());
        }
        double value = ElementReader.toDouble(ElementReader.partOf(dtype()), address + offset, swapped);
        requireOpen();
        return value;
    }

    private void requireOpen() {
        var unused = delivery.slot(); // fails if the element may belong to another batch
    }

    private long address(long i) {
        SlotArray array = onHost();
        long[] shape = array.shape;
        if (shape.length != 1 || i < 0 || i >= shape[0]) {
            throw Accessors.wrongIndices(name(), shape, i);
        }
        return array.handle() + i * dtype().itemSize();
    }

    private long address(long i, long j) {
        SlotArray array = onHost();
        long[] shape = array.shape;
        if (shape.length != 2 || i < 0 || i >= shape[0] || j < 0 || j >= shape[1]) {
            throw Accessors.wrongIndices(name(), shape, i, j);
        }
        return array.handle() + (i * shape[1] + j) * dtype().itemSize();
    }

    private long address(long i, long j, long k) {
        SlotArray array = onHost();
        long[] shape = array.shape;
        if (shape.length != 3 || i < 0 || i >= shape[0] || j < 0 || j >= shape[1] || k < 0 || k >= shape[2]) {
            throw Accessors.wrongIndices(name(), shape, i, j, k);
        }
        return array.handle() + ((i * shape[1] + j) * shape[2] + k) * dtype().itemSize();
    }

    private long address(long... index) {
        SlotArray array = onHost();
        long[] shape = array.shape;
        if (index.length != shape.length) {
            throw Accessors.wrongIndices(name(), shape, index);
        }
        long element = 0;
        for (int i = 0; i < index.length; i++) {
            if (index[i] < 0 || index[i] >= shape[i]) {
                throw Accessors.wrongIndices(name(), shape, index);
            }
            element = element * shape[i] + index[i];
        }
        return array.handle() + element * dtype().itemSize();
    }

    /**
     * Returns the bytes for other libraries, without copying: row {@code i} starts at {@code i * rowByteSize()}, row 0 at the start of a
     * page. All batches of a slot share the object: do not use it after the batch is closed, because it then contains another batch.
     */
    public DirectBuffer buffer() {
        return onHost().filled;
    }

    /**
     * Returns all bytes as a read-only direct buffer in the byte order of the elements, without copying. Do not use it after the batch is
     * closed: it then contains another batch.
     */
    public ByteBuffer byteBuffer() {
        SlotArray array = onHost();
        return slice(array, 0, array.filled.capacity());
    }

    /** Returns the bytes of some rows, as {@link #byteBuffer()} does. */
    public ByteBuffer byteBuffer(int firstRow, int rows) {
        SlotArray array = onHost();
        Objects.checkFromIndexSize(firstRow, rows, array.shape[0]);
        return slice(array, firstRow * rowByteSize(), rows * rowByteSize());
    }

    private ByteBuffer slice(SlotArray array, int offset, int length) {
        return array.bytes()
                .slice(offset, length)
                .asReadOnlyBuffer()
                .order(description.dtype().byteOrder());
    }

    private SlotArray onHost() {
        ArrayMemory memory = memory();
        if (memory instanceof SlotArray array) {
            return array;
        }
        throw new IllegalStateException("the array is in memory of a device: copy it with read(ByteBuffer), or give"
                + " handle() or nativeObject() to the device's library: array=" + name() + " shape="
                + Arrays.toString(memory.shape));
    }

    // ---- on the host or on a device

    /** Returns the handle of the memory for native code: the {@code cl_mem} or {@code CUdeviceptr}; on the host, the address. */
    public long handle() {
        return memory().handle();
    }

    /** Returns the offset of the first element in that memory, in bytes. */
    public long byteOffset() {
        memory();
        return 0;
    }

    /** Returns the object of the Java library for the memory: JOCL's {@code cl_mem}; null if there is none. */
    public @Nullable Object nativeObject() {
        return memory().nativeObject();
    }

    /**
     * Copies all bytes into a direct buffer, from its position on. Waits until the batch is complete and all work in the loader's queue
     * is done.
     */
    public void read(ByteBuffer target) {
        ArrayMemory memory = memory();
        int length = Math.toIntExact(memory.byteSize());
        if (target.remaining() < length) {
            throw new IllegalArgumentException(
                    "target is too short: bytes=" + length + " remaining=" + target.remaining());
        }
        memory.read(target.slice(target.position(), length));
        memory(); // fails if the bytes may belong to another batch
        target.position(target.position() + length);
    }

    /** Returns the bytes: on the host without a copy, from a device as a copy. */
    ByteBuffer bytes() {
        if (memory() instanceof SlotArray) {
            return byteBuffer();
        }
        ByteBuffer copy = ByteBuffer.allocateDirect(Math.toIntExact(byteSize()));
        read(copy);
        return copy.flip();
    }

    ArrayMemory memory() {
        return delivery.slot().part(part).array(place);
    }

    @Override
    public String toString() {
        BatchSlot slot = delivery.openSlot();
        return "BatchArray{" + description.name() + " " + description.dtype() + " "
                + (slot == null ? "closed" : Arrays.toString(slot.part(part).array(place).shape)) + "}";
    }
}
