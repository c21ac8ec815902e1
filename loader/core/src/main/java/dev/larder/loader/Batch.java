package dev.larder.loader;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Some samples of an epoch: for each array of the loader, their rows one after the other.
 *
 * <p>The bytes lie in a slot of the loader, which is filled again when the batch is closed. A batch is open until it is closed,
 * the loop over its epoch moves on, the epoch ends or the loader is closed, whichever comes first; {@link #keep} exempts it
 * from the loop and the end of the epoch. An open batch may be read and closed by any thread.
 *
 * <p>Every method of a batch that is not open throws {@link IllegalStateException}, but for {@link #isOpen} and {@link #close}. That
 * holds for ever where the batch was kept. Other batch objects are used again: it holds for at least 256 batches more, so let go of
 * them when the loop moves on.
 */
public final class Batch implements AutoCloseable {
    private final Ring ring;
    private final States states;
    private final List<BatchArray> arrays;
    private @Nullable Slot slot;
    private volatile boolean kept;

    /** Whether somebody has kept it, and may call it at any time. */
    private volatile boolean held;

    private volatile boolean open;

    Batch(Ring ring, Source source, States states) {
        this.ring = ring;
        this.states = states;
        List<OutputArray> outputs = source.arrays();
        BatchArray[] columns = new BatchArray[outputs.size()];
        Arrays.setAll(columns, i -> new BatchArray(this, i, outputs.get(i)));
        this.arrays = List.of(columns);
    }

    /** Returns the epoch that the batch belongs to. */
    public long epoch() {
        return slot().plan().epoch();
    }

    /** Returns the batch's number in its epoch, from 0. */
    public long number() {
        return slot().batch;
    }

    /**
     * Returns how many samples it has: the loader's batch size, or fewer in the last batch of an epoch and where samples were
     * skipped, down to none.
     */
    public int size() {
        return slot().size;
    }

    /**
     * Returns how many of the samples count, from the first one on: the others only fill up the last turn of all ranks and are
     * samples from the start of the epoch once more. Evaluation leaves these out.
     */
    public int validSize() {
        return slot().valid;
    }

    /**
     * Returns how far training has come when it has consumed this batch, and all ranks theirs of the same number:
     * {@link Loader#resume} goes on from there. Fails for a loader whose batches come in any order.
     */
    public LoaderState stateAfter() {
        Slot current = slot();
        return states.after(current.plan(), current.consumed);
    }

    /** Returns which row of the arrays a sample is. */
    public long row(int sample) {
        Slot current = slot();
        return current.rows[Objects.checkIndex(sample, current.size)];
    }

    /** Returns which rows of the arrays the samples are, as a new array. */
    public long[] rows() {
        Slot current = slot();
        return Arrays.copyOf(current.rows, current.size);
    }

    /** Returns the arrays in the order in which the loader names them. */
    public List<BatchArray> arrays() {
        slot();
        return arrays;
    }

    /** Returns one array of the batch by its place in {@link #arrays}. */
    public BatchArray array(int place) {
        slot();
        return arrays.get(place);
    }

    /** Returns one array of the batch by its name in the dataset. */
    public BatchArray array(String name) {
        slot();
        for (int i = 0; i < arrays.size(); i++) {
            if (arrays.get(i).name().equals(name)) {
                return arrays.get(i);
            }
        }
        throw new IllegalArgumentException("the loader does not read this array: array=" + name + " arrays="
                + arrays.stream().map(BatchArray::name).toList());
    }

    /** Returns the text of a sample, from an array of a {@link Field#texts} field, as a new string. */
    public String text(String name, int sample) {
        BatchArray offsets = array(name + ".offsets");
        int from = (int) offsets.getLong(Objects.checkIndex(sample, size()));
        byte[] utf8 = new byte[(int) offsets.getLong(sample + 1) - from];
        array(name).buffer().getBytes(from, utf8);
        return new String(utf8, StandardCharsets.UTF_8);
    }

    /**
     * Keeps the batch open when the loop moves on, until it is closed. Every kept batch holds one of the loader's slots: there
     * must be more slots ({@link LoaderBuilder#prefetch}) than batches are kept at a time.
     */
    public Batch keep() {
        slot();
        held = true;
        kept = true;
        return this;
    }

    /** Tells whether the batch can be read. */
    public boolean isOpen() {
        return open;
    }

    /** Gives the slot back. Idempotent. */
    @Override
    public void close() {
        ring.release(this);
    }

    boolean isKept() {
        return kept;
    }

    boolean isHeld() {
        return held;
    }

    void open(Slot filled, boolean keep) {
        slot = filled;
        kept = keep;
        held = false;
        open = true;
    }

    Slot invalidate() {
        open = false;
        return Objects.requireNonNull(slot);
    }

    Slot slot() {
        if (!open) {
            throw new IllegalStateException(
                    "batch is closed: by close(), by the next iteration, or with its epoch or loader");
        }
        return Objects.requireNonNull(slot);
    }

    @Override
    public String toString() {
        Slot current = slot;
        return open && current != null ? "Batch{" + current.batch + " size " + current.size + "}" : "Batch{closed}";
    }
}
