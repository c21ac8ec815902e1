package dev.larder.loader.internal.upload;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.WorkQueue;
import dev.larder.loader.internal.field.DeviceReader;
import dev.larder.loader.internal.ring.DeliveredBatch;
import dev.larder.loader.internal.slot.ArrayMemory;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.slot.SlotPart;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One device's part of a batch: reusable memory and the kernels that are bound to it.
 *
 * <p>The memory belongs to the loader's uploading thread until {@link #ready}, then to the consumer until {@link #lastUse}.
 */
final class DevicePart implements SlotPart, AutoCloseable {
    final DeviceBackend device;
    private final Layout layout;
    private final Map<String, ResidentArray> residents;

    /** Memory of uploaded arrays, by index in the host slot. */
    private final @Nullable DeviceMemory[] uploads;

    /** Memory of kernel results, by output; null for outputs that are uploaded unchanged. */
    private final @Nullable DeviceMemory[] made;

    private final DeviceKernel.@Nullable Call[] calls;

    /** Capacity in samples of the arrays with rows of equal length. */
    private int room;

    private final OutputMemory[] outputs;
    private int firstSample;
    private int samples;

    /** Passed when the consumer no longer uses the previous batch; belongs to the next {@link UploadingBatch}. */
    Fence lastUse = Fence.passed();

    /** Passed when the host's bytes are no longer needed; belongs to the {@link UploadingBatch}. */
    Fence uploaded = Fence.passed();

    /** Passed when the batch is complete; belongs to the {@link UploadingBatch}. */
    Fence ready = Fence.passed();

    /**
     * The layout that all parts share.
     *
     * @param staged the arrays of the host's slots
     * @param samples initial capacity in samples
     */
    record Layout(List<DeviceOutput> outputs, List<OutputArray> staged, int samples) {}

    /** Allocates the memory. */
    DevicePart(DeviceBackend device, Layout layout, Map<String, ResidentArray> residents) {
        this.device = device;
        this.layout = layout;
        this.residents = residents;
        this.uploads = new DeviceMemory[layout.staged().size()];
        this.made = new DeviceMemory[layout.outputs().size()];
        this.calls = new DeviceKernel.Call[made.length];
        this.outputs = new OutputMemory[made.length];
        Arrays.setAll(outputs, OutputMemory::new);
        allocate(layout.samples());
    }

    private void allocate(int newRoom) {
        room = newRoom;
        try {
            for (int i = 0; i < uploads.length; i++) {
                uploads[i] = allocate(layout.staged().get(i).rowByteSize());
            }
            for (int i = 0; i < made.length; i++) {
                bind(i);
            }
        } catch (Throwable e) {
            free();
            throw e;
        }
    }

    private DeviceMemory allocate(long rowByteSize) {
        return device.allocateDevice(Math.max(1, rowByteSize * room)); // an array may have no elements
    }

    private void bind(int place) {
        DeviceOutput output = layout.outputs().get(place);
        DeviceReader reader = output.reader();
        if (reader != null) {
            DeviceMemory target = allocate(output.description().rowByteSize());
            made[place] = target;
            List<DeviceMemory> sources = output.uploaded() < 0
                    ? Objects.requireNonNull(residents.get(reader.array().name()))
                            .shards()
                    : List.of(upload(output.uploaded()));
            DeviceMemory control = output.control() < 0 ? null : upload(output.control());
            calls[place] = device.compile(reader.kernel()).bind(control, target, sources);
        }
    }

    private DeviceMemory upload(int place) {
        return Objects.requireNonNull(uploads[place]);
    }

    /** Returns the size of its device memory in bytes. */
    long byteSize() {
        return Stream.of(uploads, made)
                .flatMap(Stream::of)
                .filter(Objects::nonNull)
                .mapToLong(DeviceMemory::byteSize)
                .sum();
    }

    /** The current memory of one batch array. */
    private final class OutputMemory extends ArrayMemory {
        private final int place;

        OutputMemory(int place) {
            super(layout.outputs().get(place).description());
            this.place = place;
        }

        private DeviceMemory memory() {
            DeviceMemory target = made[place];
            int uploaded = layout.outputs().get(place).uploaded();
            DeviceMemory memory = target == null && uploaded >= 0 ? uploads[uploaded] : target;
            if (memory == null) { // the loader was closed after the batch was seen open
                throw new IllegalStateException(DeliveredBatch.CLOSED);
            }
            return memory;
        }

        @Override
        public long handle() {
            return memory().handle();
        }

        @Override
        public @Nullable Object nativeObject() {
            return memory().nativeObject();
        }

        @Override
        public void read(ByteBuffer target) {
            if (target.hasRemaining()) {
                device.consumer().read(memory(), 0, target);
            }
        }
    }

    @Override
    public DeviceBackend device() {
        return device;
    }

    @Override
    public int firstSample() {
        return firstSample;
    }

    @Override
    public int size() {
        return samples;
    }

    @Override
    public Fence ready() {
        return ready;
    }

    @Override
    public ArrayMemory array(int place) {
        return outputs[place];
    }

    /** Submits this device's part of a batch without waiting for the device. Returns the number of bytes to upload. */
    long submit(HostSlot batch, int first, int count) {
        firstSample = first;
        samples = count;
        if (count > room) {
            grow(count);
        }
        WorkQueue queue = device.uploads();
        queue.waitFor(lastUse);
        long bytes = 0;
        for (int i = 0; i < uploads.length; i++) {
            bytes += upload(queue, batch, i);
        }
        uploaded = queue.fence();
        for (int i = 0; i < outputs.length; i++) {
            describe(batch, i);
        }
        ready = launch() ? device.kernels().fence() : uploaded;
        return bytes;
    }

    private long upload(WorkQueue queue, HostSlot batch, int place) {
        SlotArray array = batch.arrays[place];
        long from = 0;
        long length = array.filled.capacity();
        if (samples != batch.size) {
            if (array.shape[0] != batch.size) {
                throw Failure.of(ErrorCode.BAD_INPUT, "batches of this array cannot be divided among devices")
                        .with("array", array.description())
                        .with("shape", Arrays.toString(array.shape))
                        .with("samples", batch.size)
                        .remedy("use one device");
            }
            long row = batch.size == 0 ? 0 : length / batch.size;
            from = firstSample * row;
            length = samples * row;
        }
        DeviceMemory memory = upload(place);
        if (length > memory.byteSize()) {
            memory = growRagged(place, length);
        }
        if (length > 0) {
            queue.upload(array.owned(), from, memory, 0, length);
        }
        return length;
    }

    /** Enlarges the memory for a batch with more samples than any earlier one. */
    private void grow(int count) {
        awaitOver();
        free();
        allocate(Math.addExact(count, count / 4));
    }

    /** Enlarges the memory for rows of different lengths; no kernel is bound to it. */
    private DeviceMemory growRagged(int place, long byteSize) {
        awaitOver();
        upload(place).close();
        uploads[place] = null;
        long most = Math.max(byteSize, device.info().maxAllocationBytes());
        DeviceMemory longer = device.allocateDevice(Math.min(most, byteSize + byteSize / 4));
        uploads[place] = longer;
        return longer;
    }

    /**
     * Waits until nothing uses the memory. The wait for the consumer has no deadline here: the consumer has its own, and closing
     * the loader ends the wait.
     */
    private void awaitOver() {
        lastUse.await(Deadline.FOREVER);
        ready.await(Deadline.FOREVER);
    }

    private void describe(HostSlot batch, int place) {
        DeviceOutput output = layout.outputs().get(place);
        long[] shape = outputs[place].shape;
        if (output.reader() == null) {
            System.arraycopy(batch.arrays[output.uploaded()].shape, 0, shape, 0, shape.length);
        }
        if (output.reader() != null || samples != batch.size) {
            shape[0] = samples;
        }
    }

    /** Enqueues the kernels behind their inputs. Returns whether there are any. */
    private boolean launch() {
        WorkQueue queue = device.kernels();
        boolean launched = false;
        for (DeviceKernel.Call call : calls) {
            if (call != null && samples > 0) {
                if (!launched) {
                    queue.waitFor(uploaded);
                    launched = true;
                }
                queue.launch(call, samples);
            }
        }
        return launched;
    }

    /** Closes the kernels first, then the memory that they are bound to. */
    private void free() {
        for (int i = 0; i < calls.length; i++) {
            DeviceKernel.Call call = calls[i];
            if (call != null) {
                call.close();
                calls[i] = null;
            }
        }
        for (@Nullable DeviceMemory[] memories : List.of(made, uploads)) {
            for (int i = 0; i < memories.length; i++) {
                DeviceMemory memory = memories[i];
                if (memory != null) {
                    memory.close();
                    memories[i] = null;
                }
            }
        }
    }

    /** Closes the kernels and memory. No device work may be in flight. */
    @Override
    public void close() {
        Stream.of(lastUse, uploaded, ready).forEach(Fence::close);
        free();
    }
}
