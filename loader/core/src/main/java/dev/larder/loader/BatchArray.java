package dev.larder.loader;

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
    private final OutputArray description;

    BatchArray(Batch batch, int place, OutputArray description) {
        this.batch = batch;
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

    /** Returns the dimensions as a new array: mostly the size of the batch, then those of a row. */
    public long[] shape() {
        return array().shape.clone();
    }

    /** Returns one dimension. Allocates nothing. */
    public long dimension(int number) {
        return array().shape[number];
    }

    /** Returns the length of one row in bytes. */
    public int rowByteSize() {
        long bytes = description.dtype().itemSize();
        long[] shape = array().shape;
        for (int i = 1; i < shape.length; i++) {
            bytes *= shape[i];
        }
        return (int) bytes;
    }

    /** Returns the length of all rows in bytes. */
    public int byteSize() {
        return array().filled.capacity();
    }

    /**
     * Returns the bytes, without copying: row {@code i} starts at {@code i * rowByteSize()}, row 0 on a page of its own. The same
     * object for every batch of a slot: do not use it when the batch is closed, it then has another batch's bytes.
     */
    public DirectBuffer buffer() {
        return array().filled;
    }

    /**
     * Returns all bytes as a read-only direct buffer in the byte order of the elements, without copying. It must not be used
     * when the batch is closed, it then has another batch's bytes.
     */
    public ByteBuffer byteBuffer() {
        return slice(0, byteSize());
    }

    /** Returns the bytes of some rows, as {@link #byteBuffer()} does. */
    public ByteBuffer byteBuffer(int firstRow, int rows) {
        Objects.checkFromIndexSize(firstRow, rows, array().shape[0]);
        return slice(firstRow * rowByteSize(), rows * rowByteSize());
    }

    private ByteBuffer slice(int offset, int length) {
        return array().bytes()
                .slice(offset, length)
                .asReadOnlyBuffer()
                .order(description.dtype().byteOrder());
    }

    /** Returns an element of an array of 64-bit numbers. */
    long getLong(int index) {
        return array().filled.getLong(index * Long.BYTES, description.dtype().byteOrder());
    }

    private SlotArray array() {
        return batch.slot().arrays[place];
    }

    @Override
    public String toString() {
        return "BatchArray{" + description.name() + " " + description.dtype() + "}";
    }
}
