package dev.larder.bench.daemon;

import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.ScatterList;
import dev.larder.server.store.IncomingSegment;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.SegmentWriter;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.Provenance;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.zip.Checksum;

/** Copies one file into a segment of a store as a load does, without all that a load does around it. */
final class EngineRun implements AutoCloseable {
    private static final long BATCH_BYTES = 8 << 20;
    private static final long STEP_BYTES = 256 << 10;

    private final long byteSize;
    private final int descriptor;
    private final IncomingVersion version;
    private final IncomingSegment segment;
    private final AtomicLong next = new AtomicLong();

    EngineRun(Store store, Path source) throws IOException {
        this.byteSize = Files.size(source);
        this.descriptor = Posix.system().openForReading(source);
        this.version = store.newIncoming("engine", Provenance.computed(0));
        this.segment = version.newSegment("segment", byteSize);
    }

    void copy(int threads, Supplier<Checksum> checksums) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> copies = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                copies.add(pool.submit(() -> {
                    copyBatches(checksums);
                    return null;
                }));
            }
            for (Future<?> copy : copies) {
                copy.get();
            }
        } finally {
            pool.shutdown();
        }
    }

    private void copyBatches(Supplier<Checksum> checksums) throws IOException {
        BulkIo io = BulkIo.system();
        ScatterList memory = new ScatterList(1, 0);
        for (long start = next.getAndAdd(BATCH_BYTES); start < byteSize; start = next.getAndAdd(BATCH_BYTES)) {
            long end = Math.min(byteSize, start + BATCH_BYTES);
            SegmentWriter writer = segment.writer(start, end);
            Checksum checksum = checksums.get();
            for (long at = start; at < end; ) {
                memory.clear();
                ByteBuffer bytes = writer.take(Math.min(STEP_BYTES, end - at), memory);
                if (io.read(descriptor, at, memory) < memory.byteSize()) {
                    throw new IOException("the file became shorter");
                }
                checksum.update(bytes);
                at += memory.byteSize();
            }
            writer.finish();
        }
    }

    @Override
    public void close() {
        segment.close();
        version.close();
        Posix.system().close(descriptor);
    }
}
