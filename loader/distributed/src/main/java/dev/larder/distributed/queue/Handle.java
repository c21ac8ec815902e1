package dev.larder.distributed.queue;

import dev.larder.distributed.queue.HandleRecord.DtypeText;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.npy.Dtype;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What one thread holds of a queue: a buffer that it has claimed or taken, or a reference to what lies elsewhere; or nothing. Made once
 * by {@link HandleQueue#newHandle} and used again and again, so that handing over allocates nothing. Whatever it is asked while it
 * holds nothing, after giving back or putting, is an {@link IllegalStateException}. Used by one thread at a time.
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

    /** Tells whether it stands for anything. */
    public boolean isHeld() {
        return record != NOTHING && ring.state(record) == state;
    }

    /** Returns the buffer; until this is given back or put, then it has no bytes any more. Empty where this is a reference. */
    public UnsafeBuffer buffer() {
        requireHeld();
        return buffer;
    }

    /** Returns what the elements are; raw bytes unless the producer has said otherwise. */
    public Dtype dtype() {
        int held = requireHeld();
        long start = records.dtypeStart(held);
        long end = records.dtypeEnd(held);
        if (dtype.start != start || dtype.end != end) {
            dtype = DtypeText.of(start, end);
        }
        return dtype.dtype;
    }

    /** Returns how many dimensions there are. */
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

    /** Returns how many bytes the elements take. */
    public long byteSize() {
        return records.byteSize(requireHeld());
    }

    /** Returns a number that the producer gave it; zero unless it did. */
    public long tag() {
        return records.tag(requireHeld());
    }

    /** Returns how often this buffer had been claimed by now: no other handing over of it has the same number. */
    public long generation() {
        requireHeld();
        return QueueDescriptor.generation(state);
    }

    /** Says what the buffer will hold; only the producer, before putting it. */
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

    /** Gives it a number, such as that of a batch; only the producer, before putting it. */
    public Handle tag(long tag) {
        records.tag(requireClaimed(), tag);
        return this;
    }

    /** Tells whether it stands for a shared array. */
    public boolean isArray() {
        return records.what(requireHeld()) == HandleRecord.ARRAY;
    }

    /**
     * Returns the shared array that it stands for, until it is given back. The queue opens it at the first time and keeps the last few
     * open, so that one which comes again and again costs nothing; who wants one for longer opens it by its name.
     *
     * @throws dev.larder.error.LarderException NOT_FOUND where the producer has closed it before it was opened here
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

    /** Gives a buffer back, taken or claimed, for others to claim. */
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

    /** Gives back what it holds, if anything. */
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

    /** Becomes the holder of a record that this process has claimed just now. */
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

    /** Becomes the holder of a record that this process has taken just now. */
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
