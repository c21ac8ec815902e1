package dev.larder.distributed.queue;

import dev.larder.distributed.queue.HandleRecord.DtypeText;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.npy.Dtype;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The hold of one thread on a queue: a buffer that it has claimed or taken, a reference to an array or a name, or nothing. {@link
 * HandleQueue#newHandle} creates it once, and it is used again and again, so that a transfer allocates nothing. An access while it holds
 * nothing is an {@link IllegalStateException}. For one thread at a time.
 */
public final class Handle implements AutoCloseable {
    private static final int NOTHING = -1;
    private static final Dtype BYTES = Dtype.parse("|u1");
    private static final DtypeText BYTES_TEXT = DtypeText.of(BYTES);

    private final HandleQueue queue;
    private final HandleRing ring;
    private final HandleRecord records;
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    private DtypeText dtype = BYTES_TEXT;
    private int record = NOTHING;
    private long state;

    Handle(HandleQueue queue, HandleRing ring, HandleRecord records) {
        this.queue = queue;
        this.ring = ring;
        this.records = records;
    }

    /** Returns whether it holds anything. */
    public boolean isHeld() {
        return record != NOTHING && ring.state(record) == state;
    }

    /** Returns the buffer, which has no bytes after this handle is given back or put. Empty for a reference. */
    public UnsafeBuffer buffer() {
        requireHeld();
        return buffer;
    }

    /** Returns the dtype of the elements; raw bytes unless the producer has described them. */
    public Dtype dtype() {
        int held = requireHeld();
        long start = records.dtypeStart(held);
        long end = records.dtypeEnd(held);
        if (dtype.start != start || dtype.end != end) {
            dtype = DtypeText.of(start, end);
        }
        return dtype.dtype;
    }

    /** Returns the number of dimensions. */
    public int rank() {
        return records.rank(requireHeld());
    }

    /** Returns the size along a dimension. */
    public long size(int dimension) {
        int held = requireHeld();
        if (dimension < 0 || dimension >= records.rank(held)) {
            throw new IndexOutOfBoundsException("dimension " + dimension + " of " + records.rank(held));
        }
        return records.size(held, dimension);
    }

    /** Returns the sizes along all dimensions, as a new Java array. */
    public long[] shape() {
        long[] shape = new long[rank()];
        for (int i = 0; i < shape.length; i++) {
            shape[i] = size(i);
        }
        return shape;
    }

    /** Returns the bytes of the elements. */
    public long byteSize() {
        return records.byteSize(requireHeld());
    }

    /** Returns the tag of the producer; zero without one. */
    public long tag() {
        return records.tag(requireHeld());
    }

    /** Returns the number of claims of this buffer, which is unique for each transfer of it. */
    public long generation() {
        requireHeld();
        return QueueDescriptor.generation(state);
    }

    /** Describes the content of the buffer; only for the producer, before putting it. */
    public Handle describe(Dtype elements, long... shape) {
        int held = requireClaimed();
        HandleRecord.requireRank(shape.length);
        long count = 1;
        for (long size : shape) {
            if (size < 0) {
                throw new IllegalArgumentException("size " + size);
            }
            count = Math.multiplyExact(count, size);
        }
        long byteSize = Math.multiplyExact(count, (long) elements.itemSize());
        if (byteSize > buffer.capacity()) {
            throw new IllegalArgumentException(byteSize + " bytes for a buffer of " + buffer.capacity());
        }
        if (!dtype.dtype.equals(elements)) {
            dtype = DtypeText.of(elements);
        }
        records.dtype(held, dtype);
        records.shape(held, shape);
        records.byteSize(held, byteSize);
        return this;
    }

    /** Sets a tag, such as the number of a batch; only for the producer, before putting it. */
    public Handle tag(long tag) {
        records.tag(requireClaimed(), tag);
        return this;
    }

    /** Returns whether it is a reference to a shared array. */
    public boolean isArray() {
        return records.what(requireHeld()) == HandleRecord.ARRAY;
    }

    /**
     * Returns the shared array, until the handle is given back. The queue opens an array at its first use and keeps the last few open, so
     * that a recurring array costs nothing. A caller that needs one for longer opens it by its name.
     *
     * @throws dev.larder.error.LarderException NOT_FOUND if the producer has closed it before it was opened here
     */
    public SharedArray array() {
        int held = requireHeld();
        if (!isArray()) {
            throw new UnsupportedOperationException("the handle refers to no shared array");
        }
        return queue.array(records.name(held), records.region(held));
    }

    /** Returns the name that was put, or that of the array; empty for a buffer. */
    public String name() {
        int held = requireHeld();
        return records.what(held) == HandleRecord.BUFFER ? "" : records.name(held);
    }

    /** Returns a taken or claimed buffer to the queue. */
    public void giveBack() {
        int held = requireHeld();
        long free = QueueDescriptor.state(QueueDescriptor.FREE, 0, QueueDescriptor.generation(state));
        boolean isMine = ring.change(held, state, free);
        release();
        if (!isMine) {
            throw given();
        }
        queue.ringForBuffers();
    }

    /** Gives back its content, if any. */
    @Override
    public void close() {
        if (record != NOTHING) {
            if (queue.isOpen() && isHeld()) {
                giveBack();
            } else {
                release();
            }
        }
    }

    /** Holds a record that this process has just claimed. */
    void holdClaimed(int claimed, long newState) {
        record = claimed;
        state = newState;
        wrap();
        records.what(claimed, HandleRecord.BUFFER);
        records.tag(claimed, 0);
        records.dtype(claimed, BYTES_TEXT);
        records.shape(claimed, buffer.capacity());
        records.byteSize(claimed, buffer.capacity());
    }

    /** Holds a record that this process has just taken. */
    void holdTaken(int taken, long newState) {
        record = taken;
        state = newState;
        wrap();
    }

    private void wrap() {
        if (!queue.wrapBuffer(record, buffer)) {
            buffer.wrap(0, 0);
        }
    }

    /** Holds nothing from now on. */
    void release() {
        record = NOTHING;
        buffer.wrap(0, 0);
    }

    boolean isOf(HandleQueue other) {
        return queue == other;
    }

    int record() {
        return record;
    }

    long state() {
        return state;
    }

    boolean isEmpty() {
        return record == NOTHING;
    }

    int requireClaimed() {
        int held = requireHeld();
        if (QueueDescriptor.kind(state) != QueueDescriptor.CLAIMED) {
            throw new IllegalStateException("the handle was taken, not claimed: " + this);
        }
        return held;
    }

    private int requireHeld() {
        queue.requireOpen();
        if (!isHeld()) {
            throw given();
        }
        return record;
    }

    private static IllegalStateException given() {
        return new IllegalStateException(
                "the handle holds nothing: it was put or given back, or never claimed or taken");
    }

    @Override
    public String toString() {
        return "Handle{record=" + record + " generation=" + QueueDescriptor.generation(state) + "}";
    }
}
