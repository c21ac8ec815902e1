package dev.larder.server.ingest;

import dev.larder.server.ingest.Portions.Portion;
import dev.larder.server.source.FileRegion;
import dev.larder.server.store.IncomingSegment;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.SegmentWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A segment that several threads fill: made by the first batch that is copied, sealed by the last that is done. */
final class SegmentCopy {
    private final IncomingVersion version;
    private final LoadPlan.Segment plan;
    private final LoadProgress progress;
    private final Portions portions;
    private @Nullable IncomingSegment segment;
    private int batchesUnderWay;

    /** What one thread copies to a segment. */
    record Batch(SegmentCopy segment, List<Portion> portions) {
        private long start() {
            Portion first = portions.get(0);
            return first.isFirst() ? first.copy().placement().headOffset() : first.segmentOffset();
        }

        private long end() {
            Portion last = portions.get(portions.size() - 1);
            return last.segmentOffset() + last.byteSize();
        }
    }

    SegmentCopy(IncomingVersion version, LoadPlan.Segment plan, LoadProgress progress) {
        this.version = version;
        this.plan = plan;
        this.progress = progress;
        this.portions = new Portions(plan.placements());
    }

    long byteSize() {
        return plan.byteSize();
    }

    /** Returns the regions of its only array; none where there are several arrays, or a stream. */
    List<FileRegion> regions() {
        return plan.placements().size() > 1
                ? List.of()
                : plan.placements().get(0).array().data().regions();
    }

    long batchesAtMost() {
        return Portions.atMost(plan);
    }

    synchronized boolean hasNext() {
        return portions.hasNext();
    }

    /** Returns where the data of the next batch begins; the end where every one has been handed out. */
    synchronized long position() {
        return portions.hasNext() ? portions.position() : plan.byteSize();
    }

    /** Returns the next batch. */
    synchronized Batch next() {
        batchesUnderWay++;
        return new Batch(this, portions.next());
    }

    /** Returns the next batch, up to a place behind {@link #position}. */
    synchronized Batch nextUpTo(long end) {
        batchesUnderWay++;
        return new Batch(this, portions.nextUpTo(end));
    }

    /** Starts to write a batch, beside those of other segments that the same thread writes at once. */
    SegmentWriter writer(Batch batch, int number, int count) {
        return open().writer(batch.start(), batch.end(), number, count);
    }

    private synchronized IncomingSegment open() {
        if (segment == null) {
            segment = version.newSegment(plan.file(), plan.byteSize());
        }
        return segment;
    }

    /** Ends a batch that is written, and with the last one the segment. */
    void end(List<ArrayCopy> whole) {
        for (ArrayCopy copy : whole) {
            version.add(copy.entry(plan.file()));
            progress.addFile();
        }
        endBatch();
    }

    private synchronized void endBatch() {
        batchesUnderWay--;
        if (batchesUnderWay == 0 && !portions.hasNext() && segment != null) {
            segment.seal();
            segment.close();
        }
    }

    /** Gives up what the segment holds; only once no thread copies any more. */
    synchronized void close() {
        if (segment != null) {
            segment.close();
        }
    }
}
