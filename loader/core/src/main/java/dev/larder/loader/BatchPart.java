package dev.larder.loader;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.ring.DeliveredBatch;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotPart;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The samples of a {@link Batch} on one device, or all samples in host memory. Open as long as the batch. */
public final class BatchPart {
    private final DeliveredBatch delivery;
    private final int number;
    private final List<BatchArray> arrays;

    BatchPart(DeliveredBatch delivery, int number, List<OutputArray> outputs) {
        this.delivery = delivery;
        this.number = number;
        BatchArray[] made = new BatchArray[outputs.size()];
        Arrays.setAll(made, i -> new BatchArray(delivery, number, i, outputs.get(i)));
        this.arrays = List.of(made);
    }

    private SlotPart part() {
        return delivery.slot().part(number);
    }

    /** Returns the device; empty for a batch on the host. */
    public Optional<DeviceInfo> device() {
        return Optional.ofNullable(part().device()).map(DeviceBackend::info);
    }

    /**
     * Returns the loader's queue: its work runs after the batch is complete, and the loader waits for it when the batch is closed. Empty
     * for a batch on the host.
     */
    public Optional<DeviceQueue> queue() {
        return Optional.ofNullable(part().device()).map(DeviceBackend::consumer);
    }

    /** Returns the number of the first sample of this part. */
    public int firstSample() {
        return part().firstSample();
    }

    /** Returns the number of samples of this part: 0 if the batch has fewer samples than devices. */
    public int size() {
        return part().size();
    }

    /** Returns the fence that is signalled when the samples are complete. The batch owns it. */
    public Fence ready() {
        return part().ready();
    }

    /** Returns the arrays in the order of the loader. */
    public List<BatchArray> arrays() {
        delivery.slot();
        return arrays;
    }

    /** Returns one array by its name in batches. */
    public BatchArray array(String name) {
        delivery.slot();
        for (int i = 0; i < arrays.size(); i++) {
            if (arrays.get(i).name().equals(name)) {
                return arrays.get(i);
            }
        }
        throw new IllegalArgumentException("the loader does not read this array: array=" + name + " arrays="
                + arrays.stream().map(BatchArray::name).toList());
    }
}
