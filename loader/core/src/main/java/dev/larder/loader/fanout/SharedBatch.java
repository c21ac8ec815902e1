package dev.larder.loader.fanout;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.RingDescriptor;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A batch that another process has published, read in place. It is open until it is closed, the loop moves on or its {@link
 * SharedBatches} is closed; then its slot may contain another batch.
 *
 * <p>Any thread may read an open batch.
 */
public final class SharedBatch implements AutoCloseable {
    private final SharedBatches owner;
    private final long sequence;
    private final long epoch;
    private final long number;
    private final int size;
    private final int validSize;
    private List<SharedBatchArray> arrays = List.of();
    private volatile boolean open = true;

    /** Reads the header of a slot; {@link #fill} adds the arrays. */
    SharedBatch(SharedBatches owner, long sequence, ByteBuffer slot) {
        this.owner = owner;
        this.sequence = sequence;
        this.epoch = slot.getLong(RingDescriptor.SLOT_EPOCH_OFFSET);
        this.number = slot.getLong(RingDescriptor.SLOT_NUMBER_OFFSET);
        this.size = (int) slot.getLong(RingDescriptor.SLOT_SIZE_OFFSET);
        this.validSize = (int) slot.getLong(RingDescriptor.SLOT_VALID_OFFSET);
    }

    void fill(List<SharedBatchArray> newArrays) {
        arrays = List.copyOf(newArrays);
    }

    /** Returns the epoch of the batch. */
    public long epoch() {
        return epoch;
    }

    /** Returns the batch's number in its epoch, from 0. */
    public long number() {
        return number;
    }

    /** Returns the number of samples. */
    public int size() {
        return size;
    }

    /** Returns the number of valid samples, which come first, as {@link dev.larder.loader.Batch#validSize} does. */
    public int validSize() {
        return validSize;
    }

    /** Returns the number of batches that were published before this one. */
    public long sequence() {
        return sequence;
    }

    /** Returns the arrays in the order of the producer's loader. */
    public List<SharedBatchArray> arrays() {
        return arrays;
    }

    /** Returns one array by its name. */
    public SharedBatchArray array(String name) {
        return arrays.stream()
                .filter(array -> array.name().equals(name))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("the batch has no such array: array=" + name + " arrays="
                                + arrays.stream().map(SharedBatchArray::name).toList()));
    }

    /**
     * Returns whether all reads so far returned the published bytes. False only if the producer has dropped this consumer as too slow;
     * then closing the batch, or moving on, fails.
     */
    public boolean isIntact() {
        return owner.isIntact(this);
    }

    /** Returns whether the batch can be read. */
    public boolean isOpen() {
        return open;
    }

    /**
     * Returns the slot to the producer. Idempotent.
     *
     * @throws LarderException REFUSED if the producer took the slot earlier, so the bytes that were read may belong to another batch
     */
    @Override
    public void close() {
        owner.release(this);
    }

    /** Returns whether it was open. */
    boolean invalidate() {
        boolean was = open;
        open = false;
        return was;
    }

    void requireOpen() {
        if (!open) {
            throw new IllegalStateException(
                    "batch is closed: by close(), by the next iteration, or with its SharedBatches");
        }
    }

    @Override
    public String toString() {
        return "SharedBatch{epoch " + epoch + " number " + number + " size " + size + "}";
    }
}
