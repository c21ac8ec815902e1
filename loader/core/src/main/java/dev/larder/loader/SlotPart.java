package dev.larder.loader;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.loader.device.DeviceBackend;
import dev.larder.loader.device.DeviceKernel;
import dev.larder.loader.device.DeviceMemory;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What one device holds of a batch: memory that is used again and again, and the kernels that are bound to it.
 *
 * <p>The memory belongs to the loader's uploading thread until {@link #ready}, then to the consumer until {@link #lastUse}.
 */
final class SlotPart implements AutoCloseable {
    final DeviceBackend device;
    private final Layout layout;

    /** What is uploaded, by its place in the host's slot. */
    private final @Nullable DeviceMemory[] uploads;

    /** What kernels make, by output; nothing for those that are uploaded as they are. */
    private final @Nullable DeviceMemory[] made;

    private final DeviceKernel.@Nullable Call[] calls;

    /** The dimensions of each output. */
    final long[][] shapes;

    int firstSample;
    int samples;

    /** Passed when the consumer is done with the batch before. Those of the batch itself belong to its {@link Flight}. */
    Fence lastUse = Fence.passed();

    /** Passed when the host's bytes are no longer needed. */
    Fence uploaded = Fence.passed();

    /** Passed when the batch is complete. */
    Fence ready = Fence.passed();

    /**
     * What all parts have in common.
     *
     * @param staged the arrays of the host's slots
     * @param maxSamples what there is room for; rows of different lengths may need more
     * @param timeout how long to wait for a consumer where memory must grow
     */
    record Layout(List<DeviceOutput> outputs, List<OutputArray> staged, int maxSamples, Duration timeout) {}

    /** Takes memory. */
    SlotPart(DeviceBackend device, Layout layout, Map<String, ResidentArray> residents) {
        this.device = device;
        this.layout = layout;
        this.uploads = new DeviceMemory[layout.staged().size()];
        this.made = new DeviceMemory[layout.outputs().size()];
        this.calls = new DeviceKernel.Call[made.length];
        this.shapes = new long[made.length][];
        try {
            for (int i = 0; i < uploads.length; i++) {
                uploads[i] = allocate(layout.staged().get(i).rowByteSize());
            }
            for (int i = 0; i < made.length; i++) {
                prepare(i, residents);
            }
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private DeviceMemory allocate(long rowByteSize) {
        return device.allocateDevice(Math.max(1, rowByteSize * layout.maxSamples())); // an array may have no elements
    }

    private void prepare(int place, Map<String, ResidentArray> residents) {
        DeviceOutput output = layout.outputs().get(place);
        OutputArray description = output.description();
        long[] rowShape = description.rowShape();
        shapes[place] = new long[1 + rowShape.length];
        System.arraycopy(rowShape, 0, shapes[place], 1, rowShape.length);
        DeviceReader reader = output.reader();
        if (reader != null) {
            DeviceMemory target = allocate(description.rowByteSize());
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

    /** Returns how many bytes of the device its memory takes. */
    long byteSize() {
        return Stream.of(uploads, made)
                .flatMap(Stream::of)
                .filter(Objects::nonNull)
                .mapToLong(DeviceMemory::byteSize)
                .sum();
    }

    /** Describes all outputs as they are now. */
    List<DeviceArray.Draft> drafts() {
        DeviceArray.Draft[] drafts = new DeviceArray.Draft[shapes.length];
        for (int i = 0; i < drafts.length; i++) {
            drafts[i] = draft(i);
        }
        return List.of(drafts);
    }

    /** Describes an output as it is now; its bytes begin at 0. */
    private DeviceArray.Draft draft(int place) {
        DeviceOutput output = layout.outputs().get(place);
        DeviceMemory target = made[place];
        return new DeviceArray.Draft(
                output.description(), shapes[place], target == null ? upload(output.uploaded()) : target, null);
    }

    /** Gives the device its part of a batch to do; returns when all is given, and how many bytes are uploaded. */
    long submit(Slot batch, int first, int count) {
        firstSample = first;
        samples = count;
        DeviceQueue queue = device.uploads();
        queue.waitFor(lastUse);
        long bytes = 0;
        for (int i = 0; i < uploads.length; i++) {
            bytes += upload(queue, batch, i);
        }
        uploaded = queue.fence();
        for (int i = 0; i < shapes.length; i++) {
            describe(batch, i);
        }
        ready = launch() ? device.kernels().fence() : device.uploads().fence();
        return bytes;
    }

    private long upload(DeviceQueue queue, Slot batch, int place) {
        SlotArray array = batch.arrays[place];
        long from = 0;
        long length = array.filled.capacity();
        if (samples != batch.size) {
            if (array.shape[0] != batch.size) {
                throw Failure.of(ErrorCode.BAD_INPUT, "batches of this array cannot be divided among devices")
                        .with("array", array.description())
                        .with("shape", Arrays.toString(array.shape))
                        .with("samples", batch.size)
                        .remedy("pad its rows instead of packing them, or use one device");
            }
            long row = batch.size == 0 ? 0 : length / batch.size;
            from = firstSample * row;
            length = samples * row;
        }
        DeviceMemory memory = upload(place);
        if (length > memory.byteSize()) {
            memory = grow(place, length);
        }
        if (length > 0) {
            queue.upload(array.owned(), from, memory, 0, length);
        }
        return length;
    }

    /** Takes longer memory for bytes that no kernel reads: rows of different lengths are never transformed by kernels. */
    private DeviceMemory grow(int place, long byteSize) {
        lastUse.await(layout.timeout());
        DeviceMemory longer = device.allocateDevice(byteSize + byteSize / 4);
        upload(place).close();
        uploads[place] = longer;
        return longer;
    }

    private void describe(Slot batch, int place) {
        DeviceOutput output = layout.outputs().get(place);
        long[] shape = shapes[place];
        if (output.reader() == null) {
            System.arraycopy(batch.arrays[output.uploaded()].shape, 0, shape, 0, shape.length);
        }
        if (output.reader() != null || samples != batch.size) {
            shape[0] = samples;
        }
    }

    /** Runs the kernels after what they read is there; tells whether there are any. */
    private boolean launch() {
        DeviceQueue queue = device.kernels();
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

    /** Closes what it holds; nothing may be under way any more. */
    @Override
    public void close() {
        Stream.of(lastUse, uploaded, ready).forEach(Fence::close);
        Stream.of(calls).filter(Objects::nonNull).forEach(DeviceKernel.Call::close);
        Stream.of(uploads, made).flatMap(Stream::of).filter(Objects::nonNull).forEach(DeviceMemory::close);
    }
}
