package dev.larder.loader.internal.ring;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.slot.BatchSlot;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A batch that the consumer has: a filled slot until it is closed. Opened and closed under the lock of its pipeline. Any thread may
 * read and close it while it is open.
 */
public final class DeliveredBatch {
    /** The message of the exception for a closed batch. */
    public static final String CLOSED =
            "batch is closed: by close(), by the next iteration (unless keep() was called), or with its epoch or loader";

    private final Lender lender;
    private @Nullable BatchSlot slot;
    private volatile boolean kept;

    /** Whether the consumer keeps it, and may call it at any time. */
    private volatile boolean held;

    /** Whether it stays open even after its loader closes, because native code uses its memory. */
    private volatile boolean lent;

    /** Whether a thread waits for the fence of its last use, and closes it afterwards. */
    private boolean releasing;

    private volatile boolean open;

    /** The consumer's object for it; created once, because deliveries are reused. For the thread that takes batches. */
    @Nullable
    public Object batch;

    DeliveredBatch(Lender lender) {
        this.lender = lender;
    }

    void open(BatchSlot filled, boolean keep) {
        slot = filled;
        kept = keep;
        held = false;
        lent = false;
        releasing = false;
        open = true;
    }

    BatchSlot invalidate() {
        open = false;
        return lastSlot();
    }

    /** Returns the slot; fails if the batch is closed. */
    public BatchSlot slot() {
        BatchSlot opened = openSlot();
        if (opened == null) {
            throw new IllegalStateException(CLOSED);
        }
        return opened;
    }

    /** Returns the slot, or null if the batch is closed. */
    public @Nullable BatchSlot openSlot() {
        return open ? slot : null;
    }

    /** Returns its slot, or the last one if it is closed. */
    public BatchSlot lastSlot() {
        return Objects.requireNonNull(slot);
    }

    /** Keeps it open until it is closed, even if the consumer takes another batch. */
    public void keep() {
        slot();
        held = true;
        kept = true;
    }

    /** Keeps it open even after its loader closes. */
    public void lend() {
        keep();
        lent = true;
    }

    public boolean isLent() {
        return lent;
    }

    public boolean isOpen() {
        return open;
    }

    public boolean isKept() {
        return kept;
    }

    /**
     * Reserves the close for the caller; returns false if it is closed, or another thread has begun to close it. Under the lender's
     * lock.
     */
    boolean beginRelease() {
        boolean begins = open && !releasing;
        if (begins) {
            releasing = true;
            kept = true;
        }
        return begins;
    }

    boolean isReleasing() {
        return releasing;
    }

    boolean isHeld() {
        return held;
    }

    /** Returns the slot. It is refilled once every fence, one for each part, has been signalled. Idempotent. */
    public void close(Fence @Nullable [] lastUse) {
        lender.release(this, lastUse);
    }

    /** Receives batches that the consumer has closed. */
    public interface Lender {
        /** Takes the slot back after the fences; without fences, after the consumer's queue. */
        void release(DeliveredBatch delivery, Fence @Nullable [] lastUse);
    }
}
