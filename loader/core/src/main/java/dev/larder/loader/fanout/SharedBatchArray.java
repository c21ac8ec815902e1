package dev.larder.loader.fanout;

import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;

/** One array of a {@link SharedBatch}, in C order; {@link #dtype} has the byte order. */
public final class SharedBatchArray {
    private final SharedBatch batch;
    private final RingArray array;
    private final long[] shape;
    private final ByteBuffer bytes;

    SharedBatchArray(SharedBatch batch, RingArray array, long[] shape, ByteBuffer bytes) {
        this.batch = batch;
        this.array = array;
        this.shape = shape;
        this.bytes = bytes;
    }

    /** Returns the name in the producer's loader. */
    public String name() {
        return array.name();
    }

    /** Returns the type of the elements. */
    public Dtype dtype() {
        return array.dtype();
    }

    /** Returns the dimensions of this batch's array as a new array. */
    public long[] shape() {
        return shape.clone();
    }

    /** Returns the length in bytes. */
    public int byteSize() {
        return bytes.capacity();
    }

    /**
     * Returns the bytes as a read-only direct buffer in the byte order of the elements, without a copy, aligned to 64. After the batch
     * is closed, they belong to another batch.
     */
    public ByteBuffer byteBuffer() {
        batch.requireOpen();
        return bytes.duplicate().order(array.dtype().byteOrder());
    }

    @Override
    public String toString() {
        return "SharedBatchArray{" + array.name() + " " + array.dtype() + "}";
    }
}
