package dev.larder.loader;

import dev.larder.loader.device.DeviceBackend;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The samples of a {@link DeviceBatch} on one device. Open for as long as the batch. */
public final class DevicePart {
    private final DeviceBatch batch;
    private final @Nullable DeviceBackend device;
    private final int firstSample;
    private final int size;
    private final Fence ready;
    private final List<DeviceArray> arrays;

    /** What a part is made of. */
    record Draft(
            @Nullable DeviceBackend device, int firstSample, int size, Fence ready, List<DeviceArray.Draft> arrays) {}

    DevicePart(DeviceBatch batch, Draft draft) {
        this.batch = batch;
        this.device = draft.device();
        this.firstSample = draft.firstSample();
        this.size = draft.size();
        this.ready = draft.ready();
        DeviceArray[] made = new DeviceArray[draft.arrays().size()];
        for (int i = 0; i < made.length; i++) {
            made[i] = new DeviceArray(batch, device, draft.arrays().get(i));
        }
        this.arrays = List.of(made);
    }

    /** Describes the device; nothing where the batch is in memory of the host. */
    public Optional<DeviceInfo> device() {
        batch.requireOpen();
        return Optional.ofNullable(device).map(DeviceBackend::info);
    }

    /** Returns the queue whose work comes after the batch by itself, and which the loader waits for when the batch is closed. */
    public Optional<DeviceQueue> queue() {
        batch.requireOpen();
        return Optional.ofNullable(device).map(DeviceBackend::consumer);
    }

    /** Returns which sample of the batch is the first one here. */
    public int firstSample() {
        batch.requireOpen();
        return firstSample;
    }

    /** Returns how many samples are here: none where the batch has fewer than there are devices. */
    public int size() {
        batch.requireOpen();
        return size;
    }

    /** Returns the fence that is passed when the samples are complete. It stays the batch's. */
    public Fence ready() {
        batch.requireOpen();
        return ready;
    }

    /** Returns the arrays in the order in which the loader names them. */
    public List<DeviceArray> arrays() {
        batch.requireOpen();
        return arrays;
    }

    /** Returns one array by its name. */
    public DeviceArray array(String name) {
        batch.requireOpen();
        for (DeviceArray array : arrays) {
            if (array.name().equals(name)) {
                return array;
            }
        }
        throw new IllegalArgumentException("the loader does not read this array: array=" + name + " arrays="
                + arrays.stream().map(DeviceArray::name).toList());
    }
}
