package dev.larder.loader;

import dev.larder.client.ArrayView;
import dev.larder.error.LarderException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Memory for one batch, allocated once and filled again and again.
 *
 * <pre>
 *   free → planning → gathering → ready → open (in a Batch) → free
 *              └──────────┴── abandoned (its epoch ended; free when the last thread has left it)
 * </pre>
 *
 * <p>Everything but the memory and the rows is guarded by the {@link Ring}; those belong to the threads that hold a task of
 * this slot, and afterwards to the batch.
 */
final class Slot {
    /** Device uploads and {@code CL_MEM_USE_HOST_PTR} want pages. */
    private static final int ALIGNMENT = 4096;

    /** How long one array's part of a batch may be. */
    static final long MAX_BYTES = Integer.MAX_VALUE - 2L * ALIGNMENT;

    /** The rows of the array that the batch consists of. */
    final long[] rows;

    /** The batch's bytes, array by array; page-aligned, as long as a full batch. */
    final UnsafeBuffer[] memory;

    /** The part of {@link #memory} that this batch fills. */
    final UnsafeBuffer[] filled;

    private final long[] rowByteSizes;

    private @Nullable Plan plan;
    long batch;
    int size;

    /** Rows from here on are nobody's task yet. */
    int unclaimed;

    /** Threads that plan or gather. */
    int busy;

    /** Whether {@link #rows} are known. */
    volatile boolean planned;

    boolean abandoned;

    @Nullable
    LarderException failure;

    /** Written under the ring's lock, read also by a spinning consumer. */
    volatile boolean ready;

    Slot(List<ArrayView> arrays, int batchSize) {
        this.rows = new long[batchSize];
        this.memory = new UnsafeBuffer[arrays.size()];
        this.filled = new UnsafeBuffer[arrays.size()];
        this.rowByteSizes = new long[arrays.size()];
        for (int i = 0; i < memory.length; i++) {
            rowByteSizes[i] = arrays.get(i).rowByteSize();
            memory[i] = new UnsafeBuffer(allocate(rowByteSizes[i] * batchSize));
            filled[i] = new UnsafeBuffer(memory[i]);
        }
    }

    /** Returns zeroed memory on whole pages; touching it here keeps page faults out of the first batches. */
    private static ByteBuffer allocate(long bytes) {
        int length = (int) bytes;
        int pages = (length + ALIGNMENT - 1) & -ALIGNMENT;
        return ByteBuffer.allocateDirect(pages + ALIGNMENT)
                .alignedSlice(ALIGNMENT)
                .slice(0, length);
    }

    /** Takes the slot for a batch that is to be planned. */
    void begin(Plan plan, long batch) {
        this.plan = plan;
        this.batch = batch;
        this.size = plan.size(batch);
        this.unclaimed = 0;
        this.busy = 0;
        this.planned = false;
        this.abandoned = false;
        this.failure = null;
        this.ready = false;
    }

    /** Returns the plan of the batch that the slot was last taken for. */
    Plan plan() {
        return Objects.requireNonNull(plan);
    }

    /** Returns where a row of the batch begins in an array's memory. */
    int offset(int array, int row) {
        return (int) (row * rowByteSizes[array]);
    }

    boolean hasUnclaimedRows() {
        return planned && !abandoned && unclaimed < size;
    }

    /** Cuts the windows to the batch's size. */
    void trim() {
        for (int i = 0; i < filled.length; i++) {
            int length = offset(i, size);
            if (filled[i].capacity() != length) {
                filled[i].wrap(memory[i], 0, length);
            }
        }
    }
}
