package dev.larder.loader;

import dev.larder.client.ArrayView;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.agrona.DirectBuffer;

/**
 * One array of a {@link Batch}: the rows of its samples one after the other, in C order, as they are stored.
 *
 * <p>Bytes are handed out as they are in the array, in the byte order of {@link #dtype}.
 */
public final class BatchArray {
    private final Batch batch;
    private final int place;
    private final String name;
    private final Dtype dtype;
    private final long[] shape;
    private final int rowByteSize;

    BatchArray(Batch batch, int place, ArrayView array) {
        this.batch = batch;
        this.place = place;
        this.name = array.name();
        this.dtype = array.dtype();
        this.shape = array.shape();
        this.rowByteSize = Math.toIntExact(array.rowByteSize());
    }

    /** Returns the array's name in the dataset. */
    public String name() {
        return name;
    }

    /** Returns the type of the elements. */
    public Dtype dtype() {
        return dtype;
    }

    /** Returns the dimensions as a new array: the size of the batch, then those of a row. */
    public long[] shape() {
        long[] dimensions = shape.clone();
        dimensions[0] = batch.size();
        return dimensions;
    }

    /** Returns the length of one row in bytes. */
    public int rowByteSize() {
        return rowByteSize;
    }

    /** Returns the length of all rows in bytes. */
    public int byteSize() {
        return batch.size() * rowByteSize;
    }

    /**
     * Returns the bytes, without copying: row {@code i} starts at {@code i * rowByteSize()}, row 0 on a page of its own. The same
     * object for every batch of a slot: do not use it when the batch is closed, it then has another batch's bytes.
     */
    public DirectBuffer buffer() {
        return batch.slot().filled[place];
    }

    /**
     * Returns all bytes as a read-only direct buffer in the byte order of the elements, without copying. It must not be used
     * when the batch is closed, it then has another batch's bytes.
     */
    public ByteBuffer byteBuffer() {
        return byteBuffer(0, batch.size());
    }

    /** Returns the bytes of some rows, as {@link #byteBuffer()} does. */
    public ByteBuffer byteBuffer(int firstRow, int rows) {
        Slot slot = batch.slot();
        Objects.checkFromIndexSize(firstRow, rows, slot.size);
        ByteBuffer memory = Objects.requireNonNull(slot.memory[place].byteBuffer());
        return memory.slice(firstRow * rowByteSize, rows * rowByteSize)
                .asReadOnlyBuffer()
                .order(dtype.byteOrder());
    }

    @Override
    public String toString() {
        return "BatchArray{" + name + " " + dtype + "}";
    }
}
