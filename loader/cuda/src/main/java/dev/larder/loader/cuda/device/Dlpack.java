package dev.larder.loader.cuda.device;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.BatchPart;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;

/**
 * Lends the arrays of a batch to a framework of the same process as DLPack tensors, without a copy: on CUDA devices and in host memory.
 *
 * <pre>{@code
 * try (Dlpack tensors = Dlpack.of(batch, stream)) {      // torch.cuda.current_stream().cuda_stream
 *     long images = tensors.tensor("images");            // the DLManagedTensor for a capsule named "dltensor"
 * }
 * }</pre>
 *
 * <p><b>Ownership.</b> Each tensor is a struct of its own. The caller that gets its address calls its deleter once, from any thread;
 * frameworks do so when the last view is gone. The batch stays open until this object is closed and every deleter was called, even if
 * the loop moves on; its slot is refilled afterwards. Close the loader after the last tensor is gone: {@link Batch#lend}.
 *
 * <p><b>Streams.</b> Tensors are for one stream. Work that is added to it after {@link #of} runs after the batch is complete, and the slot
 * is refilled after all work that was added before the last deleter: neither side waits on the host. The framework orders work in
 * other streams, as for its own tensors ({@code record_stream} of PyTorch).
 *
 * <p>Thread-safe.
 */
public final class Dlpack implements AutoCloseable {
    private static final Logger LOG = Logs.of(Dlpack.class);

    /** The default stream of a thread. It differs between threads, and any thread may call the deleter. */
    private static final long PER_THREAD_STREAM = 2;

    private static final int CPU = 1;
    private static final int CUDA = 2;

    private final Batch batch;
    private final long[] streams;

    /** The number of holders of the batch: this object until it is closed, and every tensor. */
    private final AtomicInteger holders = new AtomicInteger(1);

    private final AtomicBoolean closed = new AtomicBoolean();

    private Dlpack(Batch batch, long[] streams) {
        this.batch = batch;
        this.streams = streams;
    }

    /** Lends a batch for work in the loader's streams: those of its devices ({@link CudaDevice#of(int, long)}), or the host. */
    public static Dlpack of(Batch batch) {
        return of(batch, new long[0]);
    }

    /**
     * Lends a batch for work in streams of the caller, one for each part of the batch: a {@code CUstream}, 1 for the default stream.
     * Fails with {@code USAGE} if the batch is on the host, which has no streams.
     */
    public static Dlpack of(Batch batch, long... streams) {
        if (streams.length > 0 && streams.length != batch.parts().size()) {
            throw new IllegalArgumentException("one stream for each part: streams=" + streams.length + " parts="
                    + batch.parts().size());
        }
        for (int i = 0; i < streams.length; i++) {
            if (streams[i] == PER_THREAD_STREAM) {
                throw Failure.of(ErrorCode.USAGE, "a thread's default stream cannot order the use of a batch")
                        .with("stream", streams[i])
                        .remedy("pass 1, the default stream of all threads, or your own stream");
            }
            BatchPart part = batch.parts().get(i);
            CudaDevice.await(queue(part), streams[i], part.ready());
        }
        return new Dlpack(batch.lend(), streams.clone());
    }

    private static DeviceQueue queue(BatchPart part) {
        return part.queue()
                .orElseThrow(() -> Failure.of(ErrorCode.USAGE, "host memory has no streams")
                        .remedy("use Dlpack.of(batch)"));
    }

    /**
     * Creates a tensor of an array, by its name in batches. Returns the address of a {@code DLManagedTensor}, for a capsule named {@code
     * dltensor}. Fails with {@code BAD_INPUT} if DLPack lacks its type: strings, dates, the other byte order.
     */
    public long tensor(String array) {
        return tensor(0, array, false);
    }

    /** Creates a tensor of DLPack 1.x as {@link #tensor(String)} does: a {@code DLManagedTensorVersioned}, for {@code dltensor_versioned}. */
    public long versionedTensor(String array) {
        return tensor(0, array, true);
    }

    /** Creates a tensor of an array on one of several devices. */
    public long tensor(int part, String array, boolean versioned) {
        BatchPart owner = batch.parts().get(part);
        BatchArray described = owner.array(array);
        Optional<DeviceInfo> device = owner.device();
        if (device.isPresent() && !device.get().backend().equals(CudaDevices.BACKEND)) {
            throw Failure.of(ErrorCode.USAGE, "frameworks cannot take memory of this device")
                    .with("device", device.get())
                    .remedy("use Device.cuda() or the host, or copy with array.read(buffer)");
        }
        if (closed.get()) {
            throw new IllegalStateException("closed: " + this);
        }
        holders.incrementAndGet();
        try {
            return DlpackStruct.create(
                    described,
                    device.isPresent() ? CUDA : CPU,
                    device.map(DeviceInfo::index).orElse(0),
                    versioned,
                    device.isPresent() ? null : described.byteBuffer(),
                    this::letGo);
        } catch (Throwable e) {
            letGo();
            throw e;
        }
    }

    /** Ends the creation of tensors; the batch is released with the last one. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            letGo();
        }
    }

    /** Releases one holder. Never throws, because frameworks call it. */
    private void letGo() {
        if (holders.decrementAndGet() > 0 || !batch.isOpen()) {
            return;
        }
        try {
            if (streams.length == 0) {
                batch.close();
            } else {
                batch.release(lastUses());
            }
        } catch (LarderException
                | IllegalStateException e) { // the device is lost, or the loader was closed at this moment
            LOG.warn("batch of tensors not released in order: reason={}", e.getMessage());
            batch.close();
        }
    }

    private Fence[] lastUses() {
        Fence[] fences = new Fence[streams.length];
        for (int i = 0; i < fences.length; i++) {
            fences[i] = CudaDevice.fenceAfter(queue(batch.parts().get(i)), streams[i]);
        }
        return fences;
    }

    @Override
    public String toString() {
        return "Dlpack{" + batch + " holders=" + holders + "}";
    }
}
