package dev.larder.loader;

import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.ring.DeliveredBatch;
import dev.larder.loader.internal.slot.BatchSlot;
import dev.larder.loader.internal.slot.OutputArray;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Some samples of an epoch: for each array of the loader, their rows one after the other, in memory of the host or of devices.
 *
 * <p>The bytes lie in a slot of the loader, which is filled again when the batch is closed. A batch is open until it is closed,
 * the loop over its epoch moves on, the epoch ends or the loader is closed, whichever comes first; {@link #keep} exempts it
 * from the loop and the end of the epoch. An open batch may be read and closed by any thread.
 *
 * <p><b>On a device</b> a batch is handed out before it is complete. Work on the loader's own {@link BatchPart#queue} comes after it
 * by itself; other queues wait for {@link #ready}, the host calls {@link #await}. In the same way its memory is used again after
 * everything that was given to the loader's queue by the time the batch is closed, unless {@link #release} says for what else to
 * wait. On the host a batch is complete, so there is nothing to wait for; {@link #release} waits for its fence, then
 * closes.
 *
 * <p>Every method of a batch that is not open throws {@link IllegalStateException}, but for {@link #isOpen} and {@link #close}. That
 * holds for ever where the batch was kept. Other batch objects are used again: it holds for at least 256 batches more, so let go of
 * them when the loop moves on.
 */
public final class Batch implements AutoCloseable {
    private final DeliveredBatch delivery;
    private final StateContext states;
    private final List<BatchPart> parts;

    /** Shows a delivery, now and whenever it is open again. */
    Batch(DeliveredBatch delivery, StateContext states, List<OutputArray> outputs, int parts) {
        this.delivery = delivery;
        this.states = states;
        BatchPart[] made = new BatchPart[parts];
        Arrays.setAll(made, i -> new BatchPart(delivery, i, outputs));
        this.parts = List.of(made);
    }

    /** Returns the epoch that the batch belongs to. */
    public long epoch() {
        return delivery.slot().epoch;
    }

    /** Returns the batch's number in its epoch, from 0. */
    public long number() {
        return delivery.slot().number;
    }

    /**
     * Returns how many samples it has, on all devices together: the loader's batch size, or fewer in the last batch of an epoch and
     * where samples were skipped, down to none.
     */
    public int size() {
        return delivery.slot().size;
    }

    /**
     * Returns how many of the samples count, from the first one on: the others only fill up the last turn of all ranks and are
     * samples from the start of the epoch once more. Evaluation leaves these out.
     */
    public int validSize() {
        return delivery.slot().valid;
    }

    /**
     * Returns how far training has come when it has consumed this batch, and all ranks theirs of the same number:
     * {@link Loader#resume} goes on from there. Where batches come in any order, it is how far this rank has come with all batches
     * that were handed out by then: see {@link LoaderState#merged}. Fails for an epoch {@link Loader#beside} another one.
     */
    public LoaderState stateAfter() {
        return states.after(delivery.slot());
    }

    /** Returns which row of the arrays a sample is. */
    public long row(int sample) {
        BatchSlot slot = delivery.slot();
        return slot.rows[Objects.checkIndex(sample, slot.size)];
    }

    /** Returns which rows of the arrays the samples are, as a new array. */
    public long[] rows() {
        BatchSlot slot = delivery.slot();
        return Arrays.copyOf(slot.rows, slot.size);
    }

    /**
     * Returns the parts on the loader's devices, in their order: each has the samples that follow those of the one before. A batch on
     * the host is one part.
     */
    public List<BatchPart> parts() {
        delivery.slot();
        return parts;
    }

    /** Returns the arrays in the order in which the loader names them. With several devices, each of the {@link #parts} has its own. */
    public List<BatchArray> arrays() {
        return only().arrays();
    }

    /** Returns one array of the batch by its place in {@link #arrays}. */
    public BatchArray array(int place) {
        return only().arrays().get(place);
    }

    /** Returns one array of the batch by its name in batches. */
    public BatchArray array(String name) {
        return only().array(name);
    }

    /** Returns the fence that is passed when the batch is complete. It stays the batch's. */
    public Fence ready() {
        return only().ready();
    }

    private BatchPart only() {
        if (parts.size() != 1) {
            throw new IllegalStateException("the loader has several devices, use parts(): devices=" + parts.size());
        }
        return parts.get(0);
    }

    /** Waits until the batch is complete. Fails as {@link Fence#await} does. */
    public void await(Duration timeout) {
        for (BatchPart part : parts()) {
            part.ready().await(timeout);
        }
    }

    /** Returns the text of a sample, from an array of a {@link Field#texts} field, as a new string. For batches on the host. */
    public String text(String name, int sample) {
        BatchArray offsets = array(name + ".offsets");
        int from = (int) offsets.getLong(Objects.checkIndex(sample, size()));
        byte[] utf8 = new byte[(int) offsets.getLong(sample + 1) - from];
        array(name).buffer().getBytes(from, utf8);
        return new String(utf8, StandardCharsets.UTF_8);
    }

    /**
     * Keeps the batch open when the loop moves on, until it is closed. Every kept batch holds one of the loader's slots: there must be
     * more slots ({@link LoaderBuilder#prefetch}, or {@link LoaderBuilder#deviceSlots}) than batches are kept at a time.
     */
    public Batch keep() {
        delivery.keep();
        return this;
    }

    /**
     * Keeps the batch open as {@link #keep} does, for native code that uses its memory and cannot be told that the loader is closed. On
     * a device, {@link Loader#close} then waits for the batch, at most 5 s; a batch that is still open leaves the loader's memory
     * allocated, and the close fails with {@code DEADLINE}. On the host such memory lasts for as long as somebody holds its buffer.
     */
    public Batch lend() {
        delivery.lend();
        return this;
    }

    /** Tells whether the batch can be used. */
    public boolean isOpen() {
        return delivery.isOpen();
    }

    /**
     * Closes the batch; its memory is used again when the fences are passed, one for each part in their order, and not before: on the
     * host, the call waits for its one fence. They belong to the loader from now on, which closes them, also where the batch was
     * closed meanwhile.
     */
    public void release(Fence... lastUse) {
        if (!delivery.isOpen()) {
            for (Fence fence : lastUse) {
                fence.close();
            }
        }
        delivery.slot();
        if (lastUse.length != parts.size()) {
            throw new IllegalArgumentException(
                    "one fence for each part: fences=" + lastUse.length + " parts=" + parts.size());
        }
        delivery.close(lastUse.clone());
    }

    /** Closes the batch; its memory is used again, on a device when the loader's queue has got this far. Idempotent. */
    @Override
    public void close() {
        delivery.close(null);
    }

    @Override
    public String toString() {
        BatchSlot slot = delivery.openSlot();
        return slot == null ? "Batch{closed}" : "Batch{" + slot.number + " size " + slot.size + "}";
    }
}
