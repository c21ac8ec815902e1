package dev.larder.loader;

import dev.larder.loader.internal.ring.Delivery;
import dev.larder.loader.internal.slot.ArrayMemory;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One array of a {@link Batch}: the rows of its samples one after the other, in C order, as they are stored or as a transform made
 * them. What it is made of has the names that DLPack gives them (dmlc/dlpack, {@code DLTensor}). Open for as long as its batch.
 *
 * <p>On the host its bytes are read where they lie, with {@link #buffer} and {@link #byteBuffer}. On a device these fail: give
 * {@link #handle} or {@link #nativeObject} to the device's own library, or copy the bytes with {@link #read}. Bytes are in the byte
 * order of {@link #dtype}.
 */
public final class BatchArray {
    private final Delivery delivery;
    private final int part;
    private final int place;
    private final OutputArray description;

    BatchArray(Delivery delivery, int part, int place, OutputArray description) {
        this.delivery = delivery;
        this.part = part;
        this.place = place;
        this.description = description;
    }

    /** Returns the array's name in batches: that of its field, or one made from it. */
    public String name() {
        return description.name();
    }

    /** Returns the type of the elements. */
    public Dtype dtype() {
        return description.dtype();
    }

    /** Returns the dimensions as a new array: mostly the samples of the batch or its part, then those of a row. */
    public long[] shape() {
        return memory().shape.clone();
    }

    /** Returns one dimension. Allocates nothing. */
    public long dimension(int number) {
        return memory().shape[number];
    }

    /** Returns how many elements lie between two neighbours in each dimension, as a new array. */
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

    /** Returns the length of all rows in bytes: on the host, one that an {@code int} holds. */
    public long byteSize() {
        return memory().byteSize();
    }

    // ---- on the host

    /**
     * Returns the bytes, without copying: row {@code i} starts at {@code i * rowByteSize()}, row 0 on a page of its own. The same
     * object for every batch of a slot: do not use it when the batch is closed, it then has another batch's bytes.
     */
    public DirectBuffer buffer() {
        return onHost().filled;
    }

    /**
     * Returns all bytes as a read-only direct buffer in the byte order of the elements, without copying. It must not be used
     * when the batch is closed, it then has another batch's bytes.
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

    /** Returns an element of an array of 64-bit numbers. */
    long getLong(int index) {
        return onHost().filled.getLong(index * Long.BYTES, description.dtype().byteOrder());
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

    // ---- wherever it lies

    /** Returns what native code calls the memory: the {@code cl_mem}; the address where it is memory of the host. */
    public long handle() {
        return memory().handle();
    }

    /** Returns where in that memory the first element is, in bytes. */
    public long byteOffset() {
        memory();
        return 0;
    }

    /** Returns what Java libraries call the memory: JOCL's {@code cl_mem}; nothing where there is no such object. */
    public @Nullable Object nativeObject() {
        return memory().nativeObject();
    }

    /**
     * Copies all bytes into a direct buffer, from its position on, when the batch is complete and what was given to the loader's queue
     * is done; waits for that.
     */
    public void read(ByteBuffer target) {
        ArrayMemory memory = memory();
        int length = Math.toIntExact(memory.byteSize());
        if (target.remaining() < length) {
            throw new IllegalArgumentException(
                    "target is too short: bytes=" + length + " remaining=" + target.remaining());
        }
        memory.read(target.slice(target.position(), length));
        memory(); // else it may have been another batch's bytes
        target.position(target.position() + length);
    }

    /** Returns the bytes: those of the host where they lie, those of a device as a copy. */
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
        return "BatchArray{" + description.name() + " " + description.dtype() + "}";
    }
}
