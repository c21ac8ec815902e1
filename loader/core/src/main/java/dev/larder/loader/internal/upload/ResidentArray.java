package dev.larder.loader.internal.upload;

import dev.larder.client.ArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.device.WorkQueue;
import dev.larder.loader.internal.plan.Plan;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** All rows of an array in memory that one device's kernels can read: shared host pages or a copy, in one or more shards. */
final class ResidentArray implements AutoCloseable {
    /** Size of one copy: large enough for the full speed of the link. */
    private static final int CHUNK_BYTES = 16 << 20;

    /** Time limit for copies in flight after loading has failed. */
    private static final Duration END_TIMEOUT = Duration.ofSeconds(5);

    private final List<DeviceMemory> shards;
    private final long copiedBytes;

    private ResidentArray(List<DeviceMemory> shards, long copiedBytes) {
        this.shards = shards;
        this.copiedBytes = copiedBytes;
    }

    /**
     * Divides rows so that no shard is longer than a device allows. Shards begin on pages if possible. Returns empty if a row is
     * too long or there would be too many shards.
     */
    static Optional<KernelSource.Rows> divide(long rows, long rowByteSize, long maxShardBytes) {
        long perShard = maxShardBytes / Math.max(1, rowByteSize);
        if (perShard >= rows) {
            return Optional.of(KernelSource.Rows.resident(Math.max(1, rows), 1));
        }
        long onPages = HostMemory.ALIGNMENT / Math.min(HostMemory.ALIGNMENT, Long.lowestOneBit(rowByteSize));
        perShard = perShard >= onPages ? perShard / onPages * onPages : perShard;
        long shards = perShard == 0 ? Long.MAX_VALUE : Plan.ceilDiv(rows, perShard);
        return shards > KernelSource.Rows.MAX_SHARDS
                ? Optional.empty()
                : Optional.of(KernelSource.Rows.resident(perShard, (int) shards));
    }

    /** Shares or copies the rows; blocks until done. Fails with {@code NO_SPACE} if the device has too little memory. */
    static ResidentArray load(DeviceBackend device, ArrayView array, KernelSource.Rows rows, Duration timeout) {
        List<DeviceMemory> shards = new ArrayList<>();
        long copied = 0;
        try {
            long shardBytes = rows.rowsPerShard() * array.rowByteSize();
            for (long at = 0; at < array.byteSize(); at += shardBytes) {
                long length = Math.min(shardBytes, array.byteSize() - at);
                Optional<DeviceMemory> shared = share(device, array, rows, at, length);
                if (shared.isPresent()) {
                    shards.add(shared.get());
                } else {
                    shards.add(device.allocateDevice(rows.start() + length));
                    copy(device, array, at, shards.get(shards.size() - 1), rows.start(), timeout);
                    copied += length;
                }
            }
            if (!array.isOpen()) {
                throw Failure.of(ErrorCode.REFUSED, "array was closed while it was copied to a device")
                        .with("array", array.name())
                        .remedy("close the loader first");
            }
            return new ResidentArray(List.copyOf(shards), copied);
        } catch (Throwable e) {
            shards.forEach(DeviceMemory::close);
            throw e;
        }
    }

    /** Returns whether devices read an array in place: they use the host's memory and can address its rows from a page. */
    static boolean isShared(List<DeviceBackend> devices, ArrayView array) {
        return array.address() % KernelSource.Rows.START_ALIGNMENT == 0
                && devices.stream().allMatch(device -> device.info().unifiedMemory());
    }

    /** Returns the offset in bytes of a shared array in its first page, or 0 if the array is copied. */
    static int start(List<DeviceBackend> devices, ArrayView array) {
        return isShared(devices, array) ? (int) (array.address() % HostMemory.ALIGNMENT) : 0;
    }

    private static Optional<DeviceMemory> share(
            DeviceBackend device, ArrayView array, KernelSource.Rows rows, long at, long length) {
        boolean isShared = isShared(List.of(device), array)
                && (array.address() + at) % HostMemory.ALIGNMENT == rows.start()
                && rows.start() + length <= Integer.MAX_VALUE;
        return isShared ? device.share(array.pageBuffer(at, (int) length)) : Optional.empty();
    }

    /** Copies with two staging buffers: one is filled while the other is uploaded. */
    private static void copy(
            DeviceBackend device, ArrayView array, long at, DeviceMemory to, int start, Duration timeout) {
        long byteSize = to.byteSize() - start;
        int chunk = (int) Math.min(CHUNK_BYTES, byteSize);
        try (Staging first = new Staging(device, chunk);
                Staging second = new Staging(device, chunk)) {
            Staging next = first;
            for (long done = 0; done < byteSize; done += chunk) {
                int length = (int) Math.min(chunk, byteSize - done);
                next.upload(array.dataBuffer(at + done, length), to, start + done, timeout);
                next = next == first ? second : first;
            }
            first.uploaded.await(timeout);
            second.uploaded.await(timeout);
        }
    }

    /** Staging buffers that are filled and uploaded in turn. */
    private static final class Staging implements AutoCloseable {
        /** Memory that a device may still read after the wait for it has failed. */
        private static final Queue<HostMemory> ABANDONED = new ConcurrentLinkedQueue<>();

        private final WorkQueue queue;
        private final HostMemory memory;
        private Fence uploaded = Fence.passed();

        Staging(DeviceBackend device, int byteSize) {
            this.queue = device.uploads();
            this.memory = device.allocate(byteSize);
        }

        void upload(ByteBuffer bytes, DeviceMemory to, long toOffset, Duration timeout) {
            uploaded.await(timeout);
            uploaded.close();
            int length = bytes.remaining();
            memory.bytes().put(0, bytes, bytes.position(), length);
            queue.upload(memory, 0, to, toOffset, length);
            uploaded = queue.fence();
        }

        /** Waits for all copies before it frees the memory, even if one copy failed. */
        @Override
        public void close() {
            uploaded.close();
            if (queue.drain(END_TIMEOUT)) {
                memory.close();
            } else {
                ABANDONED.add(memory);
            }
        }
    }

    /** Returns the shards that a kernel reads. */
    List<DeviceMemory> shards() {
        return shards;
    }

    /** Returns its size on the device in bytes, or 0 if pages are shared. */
    long copiedBytes() {
        return copiedBytes;
    }

    @Override
    public void close() {
        shards.forEach(DeviceMemory::close);
    }
}
