package dev.larder.loader;

import dev.larder.loader.device.DeviceBackend;
import dev.larder.loader.device.DeviceMemory;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One array of a {@link DevicePart}: rows in C order, in memory of the device. What it is made of has the names that DLPack gives
 * them (dmlc/dlpack, {@code DLTensor}). Open for as long as its batch.
 */
public final class DeviceArray {
    private final DeviceBatch batch;
    private final @Nullable DeviceBackend device;
    private final Draft draft;

    /**
     * What an array is made of.
     *
     * @param hostBytes its bytes, where they are in memory of the host
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Draft(
            OutputArray description,
            long[] shape,
            DeviceMemory memory,
            @Nullable ByteBuffer hostBytes) {}

    DeviceArray(DeviceBatch batch, @Nullable DeviceBackend device, Draft draft) {
        this.batch = batch;
        this.device = device;
        this.draft = draft;
    }

    /** Returns the array's name in batches. */
    public String name() {
        return draft.description().name();
    }

    /** Returns the type of the elements. */
    public Dtype dtype() {
        return draft.description().dtype();
    }

    /** Returns the dimensions as a new array: mostly the samples of the part, then those of a row. */
    public long[] shape() {
        batch.requireOpen();
        return draft.shape().clone();
    }

    /** Returns how many elements lie between two neighbours in each dimension, as a new array. */
    public long[] strides() {
        long[] strides = shape();
        long stride = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            long size = strides[i];
            strides[i] = stride;
            stride *= size;
        }
        return strides;
    }

    /** Returns how many bytes there are. */
    public long byteSize() {
        long bytes = dtype().itemSize();
        for (long size : shape()) {
            bytes *= size;
        }
        return bytes;
    }

    /** Returns what native code calls the memory: the {@code cl_mem}; the address where it is memory of the host. */
    public long handle() {
        batch.requireOpen();
        return draft.memory().handle();
    }

    /** Returns where in that memory the first element is, in bytes. */
    public long byteOffset() {
        batch.requireOpen();
        return 0;
    }

    /** Returns what Java libraries call the memory: JOCL's {@code cl_mem}; nothing where there is no such object. */
    public @Nullable Object nativeObject() {
        batch.requireOpen();
        return draft.memory().nativeObject();
    }

    /**
     * Copies all bytes into a direct buffer, from its position on, when the batch is complete and what was given to the loader's queue
     * is done; waits for that.
     */
    public void read(ByteBuffer target) {
        int length = Math.toIntExact(byteSize());
        if (target.remaining() < length) {
            throw new IllegalArgumentException(
                    "target is too short: bytes=" + length + " remaining=" + target.remaining());
        }
        ByteBuffer part = target.slice(target.position(), length);
        if (draft.hostBytes() != null) {
            part.put(0, draft.hostBytes(), 0, length);
        } else if (device != null && length > 0) {
            device.consumer().read(draft.memory(), 0, part);
        }
        batch.requireOpen(); // else it may have been another batch's bytes
        target.position(target.position() + length);
    }

    /** Returns the bytes without copying, read-only, in the byte order of the elements; nothing where a device has them. */
    public Optional<ByteBuffer> hostBytes() {
        batch.requireOpen();
        return Optional.ofNullable(draft.hostBytes())
                .map(bytes -> bytes.duplicate().order(dtype().byteOrder()));
    }

    @Override
    public String toString() {
        return "DeviceArray{" + name() + " " + dtype() + "}";
    }
}
