package dev.larder.loader.internal.ring;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.slot.BatchSlot;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A batch in the consumer's hands: a filled slot until it is closed. Opened and closed under the lock of the pipeline that it comes
 * from; an open one may be read and closed by any thread.
 */
public final class DeliveredBatch {
    /** What whoever uses a closed batch is told. */
    public static final String CLOSED =
            "batch is closed: by close(), by the next iteration, or with its epoch or loader";

    private final Lender lender;
    private @Nullable BatchSlot slot;
    private volatile boolean kept;

    /** Whether somebody has kept it, and may call it at any time. */
    private volatile boolean held;

    /** Whether closing the loader does not close it either: native code uses its memory. */
    private volatile boolean lent;

    /** Whether somebody waits for the fence of its last use, to close it then. */
    private boolean releasing;

    private volatile boolean open;

    /** What the consumer sees of it; made once, as deliveries are used again. For the thread that takes batches. */
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

    /** Returns the slot; fails where it was given back. */
    public BatchSlot slot() {
        BatchSlot opened = openSlot();
        if (opened == null) {
            throw new IllegalStateException(CLOSED);
        }
        return opened;
    }

    /** Returns the slot; nothing where it was given back. */
    public @Nullable BatchSlot openSlot() {
        return open ? slot : null;
    }

    /** Returns the slot that it is open on, or was last. */
    public BatchSlot lastSlot() {
        return Objects.requireNonNull(slot);
    }

    /** Keeps it open when the consumer takes another one, until it is closed. */
    public void keep() {
        slot();
        held = true;
        kept = true;
    }

    /** Keeps it open also where the loader is closed. */
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
     * Keeps it open for the caller alone to close; false where it is closed, or somebody else has begun to. Under the lender's
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

    /** Gives the slot back, to be filled again when the fences are passed, one for each part, if there are any. Idempotent. */
    public void close(Fence @Nullable [] lastUse) {
        lender.release(this, lastUse);
    }

    /** Takes deliveries back. */
    public interface Lender {
        /** Takes the slot back when fences are passed; without any, when the consumer's queue has got there. */
        void release(DeliveredBatch delivery, Fence @Nullable [] lastUse);
    }
}
