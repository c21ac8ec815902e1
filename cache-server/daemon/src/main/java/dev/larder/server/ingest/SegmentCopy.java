package dev.larder.server.ingest;

import dev.larder.server.source.FileRegion;
import dev.larder.server.store.IncomingSegment;
import dev.larder.server.store.IncomingVersion;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A segment that several threads fill. Cuts it into batches one by one, so that a plan of a million files costs no memory. The first
 * batch creates the file, the last one seals it. Thread-safe.
 */
final class SegmentCopy {
    private final IncomingVersion version;
    private final LoadPlan.Segment plan;
    private final LoadProgress progress;
    private final Iterator<SegmentArray> arrays;
    private @Nullable Stretch rest;
    private @Nullable IncomingSegment segment;
    private int batchesUnderWay;

    SegmentCopy(IncomingVersion version, LoadPlan.Segment plan, LoadProgress progress) {
        this.version = version;
        this.plan = plan;
        this.progress = progress;
        this.arrays = plan.arrays().iterator();
        this.rest = new Stretch(arrays.next());
    }

    long byteSize() {
        return plan.byteSize();
    }

    int arrayCount() {
        return plan.arrays().size();
    }

    /** Returns the extents of its only array; none if it has several arrays, or a stream. */
    List<FileRegion> extents() {
        return arrayCount() > 1
                ? List.of()
                : plan.arrays().get(0).source().extents();
    }

    /** Returns where the data of the next batch starts; the length of the segment if there is no next batch. */
    synchronized long position() {
        return rest == null ? plan.byteSize() : rest.segmentPosition();
    }

    /** Returns whether there is a next batch that starts before {@code end}. */
    synchronized boolean hasNext(long end) {
        return rest != null && rest.segmentPosition() < end;
    }

    /** Returns the next batch: up to {@code end}, or less if it comes from many files. Only a stream goes beyond. */
    synchronized SegmentBatch next(long end) {
        List<Stretch> stretches = new ArrayList<>();
        int files = 0;
        while (rest != null && rest.segmentPosition() < end && files < Stretch.MANY_FILES) {
            Stretch stretch = rest.cut(end - rest.segmentPosition());
            stretches.add(stretch);
            files += stretch.fileCount();
            if (rest.isAtEnd()) {
                rest = arrays.hasNext() ? new Stretch(arrays.next()) : null;
            }
        }
        batchesUnderWay++;
        return new SegmentBatch(this, stretches);
    }

    /** Returns the file, which the first call creates. */
    synchronized IncomingSegment open() {
        if (segment == null) {
            segment = version.newSegment(plan.file(), plan.byteSize());
        }
        return segment;
    }

    /** Ends a batch whose bytes are in the segment. The last one seals the segment. */
    void end(List<Stretch> stretches) {
        for (Stretch stretch : stretches) {
            if (stretch.array().add(stretch)) {
                version.add(stretch.array().entry(plan.file()));
                progress.addFile();
            }
        }
        endBatch();
    }

    private synchronized void endBatch() {
        batchesUnderWay--;
        if (batchesUnderWay == 0 && rest == null && segment != null) {
            segment.seal();
            segment.close();
        }
    }

    /** Closes the file. No thread may copy any more. */
    synchronized void close() {
        if (segment != null) {
            segment.close();
        }
    }
}
