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
 * Samples of an epoch: for each array of the loader, their rows one after the other, in host memory or on devices.
 *
 * <p>The bytes are in a slot of the loader, which is refilled after the batch is closed. A batch is open until it is closed, the loop
 * over its epoch moves on, the epoch ends or the loader is closed, whichever comes first; {@link #keep} exempts it from the loop and
 * the end of the epoch. Any thread may read and close an open batch.
 *
 * <p><b>On a device</b>, the loop gets a batch before it is complete. Work on the loader's own {@link BatchPart#queue} runs after the
 * batch is complete; other queues wait for {@link #ready}, the host calls {@link #await}. The memory is reused after all work that is in
 * the loader's queue when the batch is closed; {@link #release} waits for other work. On the host, a batch is complete immediately;
 * {@link #release} waits for its fence, then closes.
 *
 * <p>Every method of a closed batch throws {@link IllegalStateException}, except {@link #isOpen} and {@link #close}. A kept
 * batch always does. Other batch objects are reused after at least 256 more batches, so do not hold them after the loop moves on.
 */
public final class Batch implements AutoCloseable {
    private final DeliveredBatch delivery;
    private final StateContext states;
    private final List<BatchPart> parts;

    /** Creates the batch object of a delivery, which is reused with it. */
    Batch(DeliveredBatch delivery, StateContext states, List<OutputArray> outputs, int parts) {
        this.delivery = delivery;
        this.states = states;
        BatchPart[] made = new BatchPart[parts];
        Arrays.setAll(made, i -> new BatchPart(delivery, i, outputs));
        this.parts = List.of(made);
    }

    /** Returns the epoch of the batch. */
    public long epoch() {
        return delivery.slot().epoch;
    }

    /** Returns the batch's number in its epoch, from 0; in a resumed epoch, from 0 after the resume. */
    public long number() {
        return delivery.slot().number;
    }

    /**
     * Returns the number of samples, on all devices together: the loader's batch size, or less in the last batch of an epoch and if
     * samples were skipped, down to 0.
     */
    public int size() {
        return delivery.slot().size;
    }

    /**
     * Returns the number of valid samples, which come first. The others pad the last turn of all ranks with samples from the start of
     * the epoch; evaluation ignores them.
     */
    public int validSize() {
        return delivery.slot().valid;
    }

    /**
     * Returns the state of training after all ranks have consumed their batch of this number; {@link Loader#resume} continues there. If
     * batches come in any order, it is the state of this rank after all batches that it has received so far: see {@link
     * LoaderState#merged}. Fails for an epoch of {@link Loader#beside}.
     */
    public LoaderState stateAfter() {
        return states.after(delivery.slot());
    }

    /**
     * Returns the receipt of {@link #stateAfter}: a digest of the dataset and of the samples that all ranks together have consumed in the
     * epoch, at their positions. Runs with equal receipts have visited the same samples in the same order, with any number of ranks. It is
     * empty if the epoch was resumed from a state without one. A call looks up the samples of all ranks since the last call: 4 ns each
     * in a random order, 20 ns in a permuted one.
     */
    public String receipt() {
        return states.receipt(delivery.slot());
    }

    /** Returns the row of a sample in the arrays. */
    public long row(int sample) {
        BatchSlot slot = delivery.slot();
        return slot.rows[Objects.checkIndex(sample, slot.size)];
    }

    /** Returns the rows of the samples in the arrays, as a new array. */
    public long[] rows() {
        BatchSlot slot = delivery.slot();
        return Arrays.copyOf(slot.rows, slot.size);
    }

    /**
     * Returns the parts on the loader's devices, in order; consecutive parts have consecutive samples. A batch on the host has one part.
     */
    public List<BatchPart> parts() {
        delivery.slot();
        return parts;
    }

    /** Returns the arrays in the order of the loader. With several devices, each of the {@link #parts} has its own arrays. */
    public List<BatchArray> arrays() {
        return only().arrays();
    }

    /** Returns one array of the batch by its index in {@link #arrays}. */
    public BatchArray array(int place) {
        return only().arrays().get(place);
    }

    /** Returns one array of the batch by its name in batches. */
    public BatchArray array(String name) {
        return only().array(name);
    }

    /** Returns the fence that is signalled when the batch is complete. The batch owns it. */
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
     * Keeps the batch open until it is closed, even if the loop moves on. Every kept batch holds a slot of the loader, which needs more
     * slots ({@link LoaderBuilder#prefetch}, or {@link LoaderBuilder#deviceSlots}) than kept batches.
     */
    public Batch keep() {
        delivery.keep();
        return this;
    }

    /**
     * Keeps the batch open as {@link #keep} does, for native code that uses its memory and does not notice the close of the loader. On a
     * device, {@link Loader#close} waits for the batch, at most 5 s; if it is still open, the loader's memory stays allocated, and the
     * close fails with {@code DEADLINE}. On the host, the memory lives as long as its buffer is reachable.
     */
    public Batch lend() {
        delivery.lend();
        return this;
    }

    /** Returns whether the batch can be used. */
    public boolean isOpen() {
        return delivery.isOpen();
    }

    /**
     * Closes the batch. Its memory is reused only after the fences are signalled, one for each part in order; on the host, the call waits
     * for its one fence. The loader owns the fences from now on, even if the batch was closed already.
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

    /** Closes the batch, so that its memory is reused; on a device, after the work in the loader's queue. Idempotent. */
    @Override
    public void close() {
        delivery.close(null);
    }

    @Override
    public String toString() {
        BatchSlot slot = delivery.openSlot();
        return slot == null
                ? "Batch{closed}"
                : "Batch{" + slot.number + " of epoch " + slot.epoch + ", size " + slot.size + "}";
    }
}
