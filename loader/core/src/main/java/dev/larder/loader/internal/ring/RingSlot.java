package dev.larder.loader.internal.ring;

import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.SlotArray;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A slot of a {@link Ring}, which guards the fields here. */
final class RingSlot extends HostSlot {
    /*
     * The states of a slot
     *
     *   free → planning → gathering → ready → open → free
     *              └──────────┴── abandoned → free
     *
     *   free        in Ring.free; no thread uses it
     *   planning    in Ring.line, which has the order of the plan; one thread looks up the rows of the batch
     *   gathering   in Ring.line, and planned; each thread claims some rows and copies them. If samples have to be skipped or collated, the
     *               last thread finishes the batch alone
     *   ready       in Ring.line; no thread uses it. It contains the batch, or the failure of the batch
     *   open        in a DeliveredBatch; the consumer reads it until it closes the batch
     *   abandoned   in no list: its epoch ended while threads filled it. The last of them makes it free
     *
     * Only the ring changes a state, under its monitor. "busy" counts the threads that plan or gather, and "unclaimed" is the first row
     * without a thread: a batch is ready if no thread is busy and no row is unclaimed.
     *
     * The memory of a slot has no lock. Threads write separate rows, each between Ring.claim() and Ring.gathered(), and the consumer reads
     * after Ring.poll(). These methods use the monitor, so the consumer sees every row. A consumer that spins reads "ready" without the
     * monitor, but only to leave its loop.
     *
     *   a task fails           the slot keeps the failure, and no later batch of the epoch begins. The consumer gets the batches before it,
     *                          then the failure
     *   the epoch ends early   slots in Ring.line become free, or abandoned if a thread is busy with them
     *   a device still reads   the thread that closes the batch waits for the device; the batch stays open until then, and other closes do
     *                          nothing
     *   the loader closes      all batches close, and threads end after their tasks
     */

    private @Nullable Plan plan;

    /** The number of batches of all epochs that were begun before it. */
    long turn;

    /** The first row that no thread has claimed. */
    int unclaimed;

    /** The number of threads that plan or gather. */
    int busy;

    /** Whether the samples are known. */
    volatile boolean planned;

    boolean abandoned;

    @Nullable
    LarderException failure;

    /** Written under the ring's lock, read by a spinning consumer without it. */
    volatile boolean ready;

    RingSlot(LoaderSource source, int samples, HostAllocator allocator) {
        super(source.arrays(), source.fields().size(), samples, allocator);
    }

    /** Frees the memory of all slots in the opposite order of allocation. No thread may use it any more. */
    static void closeMemory(List<RingSlot> slots) {
        for (int i = slots.size() - 1; i >= 0; i--) {
            slots.get(i).closeMemory();
        }
    }

    /** Begins a batch in this slot. */
    void begin(Plan newPlan, long newBatch, long newTurn) {
        this.plan = newPlan;
        this.remainder = newPlan;
        this.turn = newTurn;
        this.epoch = newPlan.epoch();
        this.epochLength = newPlan.length();
        this.number = newBatch;
        this.size = 0;
        this.valid = 0;
        this.consumed = 0;
        this.counted = 0;
        this.skippedTerms = 0;
        this.taken = 0;
        this.takenSamples = 0;
        this.missingCount = 0;
        this.unclaimed = 0;
        this.busy = 1;
        this.badCount = 0;
        this.planned = false;
        this.abandoned = false;
        this.ended = false;
        this.failure = null;
        this.ready = false;
    }

    /** Returns the plan of the last batch in this slot. */
    Plan plan() {
        return Objects.requireNonNull(plan);
    }

    /** Returns whether the last batch in this slot was of a plan. */
    boolean isOf(@Nullable Plan some) {
        return some != null && plan == some;
    }

    /** Returns the bytes of the batch in this slot. */
    long filledBytes() {
        long bytes = 0;
        for (SlotArray array : arrays) {
            bytes += array.filled.capacity();
        }
        return bytes;
    }

    boolean hasUnclaimedRows() {
        return planned && !abandoned && unclaimed < size;
    }
}
