package dev.larder.server.ingest;

import dev.larder.server.source.Extent;
import dev.larder.server.store.IncomingSegment;
import dev.larder.server.store.IncomingVersion;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A segment that several threads fill. Cuts it into stretches one by one, so that a plan of a million files costs no memory. The first
 * stretch creates the file, the last one seals it. Thread-safe.
 */
final class SegmentCopy {
    private final IncomingVersion version;
    private final LoadPlan.Segment plan;
    private final LoadProgress progress;
    private final SegmentStretch rest;
    private @Nullable IncomingSegment segment;
    private int underWay;

    SegmentCopy(IncomingVersion version, LoadPlan.Segment plan, LoadProgress progress) {
        this.version = version;
        this.plan = plan;
        this.progress = progress;
        this.rest = new SegmentStretch(this, plan.arrays());
    }

    long byteSize() {
        return plan.byteSize();
    }

    /** Returns the extents of its only array; none if it has several arrays, or a stream. */
    List<Extent> extents() {
        return plan.arrays().size() > 1
                ? List.of()
                : plan.arrays().get(0).source().extents();
    }

    /** Returns the offset of the next stretch's data; the length of the segment if there is no next stretch. */
    synchronized long position() {
        return rest.isAtEnd() ? plan.byteSize() : rest.segmentPosition();
    }

    /** Returns whether there is a next stretch, with data before {@code end}. */
    synchronized boolean hasNext(long end) {
        return !rest.isAtEnd() && rest.segmentPosition() < end;
    }

    /** Returns the next stretch; see {@link SegmentStretch#cut}. */
    synchronized SegmentStretch next(long end) {
        underWay++;
        return rest.cut(end);
    }

    /** Returns the file, which the first call creates. */
    synchronized IncomingSegment open() {
        if (segment == null) {
            segment = version.newSegment(plan.file(), plan.byteSize());
        }
        return segment;
    }

    /** Ends a stretch after its bytes are in the segment. The last one seals the segment. */
    void end(List<SegmentStretch.Part> parts) {
        for (SegmentStretch.Part part : parts) {
            if (part.array().add(part)) {
                version.add(part.array().entry(plan.file()));
                progress.addFile();
            }
        }
        endStretch();
    }

    private synchronized void endStretch() {
        underWay--;
        if (underWay == 0 && rest.isAtEnd() && segment != null) {
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
