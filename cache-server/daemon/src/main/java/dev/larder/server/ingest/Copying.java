package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.ArrayEntry;
import dev.larder.npy.NpyHeader;
import dev.larder.server.ingest.LoadPlan.Placement;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.IncomingSegment;
import dev.larder.server.store.IncomingVersion;
import java.io.IOException;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Fills the segments of plans with several threads. Whoever made it closes it; then no thread writes any more. */
final class Copying implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Copying.class);
    private static final int COPY_END_SECONDS = 5;

    private final ExecutorService pool;
    private final LoadProgress progress;
    private final List<Future<?>> copies = new ArrayList<>();
    private final List<IncomingVersion> versions = new ArrayList<>();

    Copying(int workers, LoadProgress progress) {
        this.progress = progress;
        this.pool = Executors.newFixedThreadPool(Math.max(1, workers), task -> {
            Thread thread = new Thread(task, "larder-ingest");
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Starts to write the segments of a version. */
    void add(IncomingVersion version, LoadPlan plan) {
        versions.add(version);
        for (LoadPlan.Segment segment : plan.segments()) {
            copies.add(pool.submit(() -> copy(version, segment)));
        }
    }

    private void copy(IncomingVersion version, LoadPlan.Segment plan) {
        try (IncomingSegment segment = version.newSegment(plan.file(), plan.byteSize())) {
            for (Placement placement : plan.placements()) {
                segment.write(placement.headOffset(), placement.head());
                int crc32c = copy(segment, placement);
                placement.array().files().forEach(SourceIdentity::requireUnchanged);
                version.add(entry(plan.file(), placement, crc32c));
                progress.addFile();
            }
            segment.seal();
        }
    }

    private int copy(IncomingSegment segment, Placement placement) {
        SourceArray array = placement.array();
        try (ReadableByteChannel data = array.open()) {
            return segment.copy(data, placement.dataOffset(), array.byteSize(), progress::addBytes);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot copy array")
                    .with("array", array.name())
                    .with("file", array.file())
                    .with("reason", e)
                    .cause(e)
                    .remedy("check the file and its disk");
        }
    }

    private static ArrayEntry entry(String file, Placement placement, int crc32c) {
        SourceArray array = placement.array();
        NpyHeader header = array.header();
        return new ArrayEntry(
                array.name().array(),
                header.dtype().descr(),
                header.order().name().charAt(0),
                header.shape(),
                file,
                placement.dataOffset(),
                header.byteSize(),
                crc32c,
                array.part());
    }

    /** Waits until everything is written; the first copy that fails ends it all. */
    void await() {
        for (Future<?> copy : copies) {
            await(copy);
        }
    }

    /** Waits for one copy. The load's own end is bounded by cancelling the copies. */
    private static void await(Future<?> copy) {
        try {
            copy.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while copying");
        }
    }

    /** Waits until no thread writes any more, so that what is removed next stays removed. */
    @Override
    public void close() {
        versions.forEach(IncomingVersion::cancel);
        pool.shutdownNow();
        try {
            if (!pool.awaitTermination(COPY_END_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a copy does not end; its source hangs: waitedSeconds={}", COPY_END_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
