package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.server.source.FileRegion;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceReader;
import dev.larder.server.store.ByteSource;
import dev.larder.server.store.IncomingSegment;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.SegmentWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/** Fills one segment with several threads: made by the first batch that is copied, sealed by the last that is done. */
final class SegmentCopy {
    private final IncomingVersion version;
    private final LoadPlan.Segment plan;
    private final LoadProgress progress;
    private final Portions portions;
    private @Nullable IncomingSegment segment;
    private int batchesUnderWay;

    SegmentCopy(IncomingVersion version, LoadPlan.Segment plan, LoadProgress progress) {
        this.version = version;
        this.plan = plan;
        this.progress = progress;
        this.portions = new Portions(plan.placements());
    }

    long batchesAtMost() {
        return Portions.atMost(plan);
    }

    /** Returns the next batch, for {@link #copy}; null where every one has been handed out. */
    synchronized @Nullable List<Portion> next() {
        if (!portions.hasNext()) {
            return null;
        }
        batchesUnderWay++;
        return portions.next();
    }

    /** Copies a batch. One thread may do so beside others. */
    void copy(List<Portion> batch) {
        IncomingSegment target = open();
        Portion last = batch.get(batch.size() - 1);
        SegmentWriter writer = target.writer(start(batch.get(0)), last.segmentOffset() + last.byteSize());
        List<ArrayCopy> whole = new ArrayList<>();
        for (Portion portion : batch) {
            if (copy(portion, writer)) {
                whole.add(portion.copy());
            }
        }
        writer.finish();
        for (ArrayCopy copy : whole) {
            version.add(copy.entry(plan.file()));
            progress.addFile();
        }
        endBatch(target);
    }

    private static long start(Portion portion) {
        return portion.isFirst() ? portion.copy().placement().headOffset() : portion.segmentOffset();
    }

    private synchronized IncomingSegment open() {
        if (segment == null) {
            segment = version.newSegment(plan.file(), plan.byteSize());
        }
        return segment;
    }

    private synchronized void endBatch(IncomingSegment target) {
        batchesUnderWay--;
        if (batchesUnderWay == 0 && !portions.hasNext()) {
            target.seal();
            target.close();
        }
    }

    /** Gives up what the segment holds; only once no thread copies any more. */
    synchronized void close() {
        if (segment != null) {
            segment.close();
        }
    }

    private boolean copy(Portion portion, SegmentWriter writer) {
        if (portion.isFirst()) {
            writer.skipTo(portion.copy().placement().headOffset());
            writer.put(portion.copy().placement().head());
        }
        writer.skipTo(portion.segmentOffset());
        CRC32C crc = new CRC32C();
        try {
            if (portion.regions().isEmpty()) {
                copyStream(portion.copy().array(), writer, crc);
            } else {
                copyRegions(portion, writer, crc);
            }
        } catch (IOException e) {
            throw unreadable(portion.copy().array(), e);
        }
        return portion.copy().add(portion.offset(), portion.byteSize(), (int) crc.getValue());
    }

    private void copyRegions(Portion portion, SegmentWriter writer, Checksum checksum) throws IOException {
        long left = portion.byteSize();
        int at = portion.firstRegion();
        long offset = portion.regionOffset();
        SourceIdentity file = null;
        SourceReader source = null;
        try {
            do {
                FileRegion region = portion.regions().get(at);
                SourceIdentity next = portion.copy().identityOf(at, region);
                if (source == null || !next.equals(file)) { // regions of one file often follow each other
                    SourceReader before = source;
                    source = null;
                    end(before);
                    source = SourceReader.open(next);
                    file = next;
                }
                long step = Math.min(left, region.byteSize() - offset);
                ByteSource bytes = bytes(source, portion, at, region.offset() + offset);
                writer.copy(bytes, step, checksum, progress::addBytes);
                left -= step;
                at++;
                offset = 0;
            } while (left > 0);
            source.requireUnchanged();
        } finally {
            if (source != null) {
                source.close();
            }
        }
    }

    /** Closes what was read to its end, and proves that it was the same all the time. */
    private static void end(@Nullable SourceReader source) {
        if (source != null) {
            try (source) {
                source.requireUnchanged();
            }
        }
    }

    /** Reads what lies in a region from a position of its file on. */
    private static ByteSource bytes(SourceReader source, Portion portion, int region, long start) {
        long[] position = {start};
        return (target, address) -> {
            long read = source.read(position[0], address, target.remaining());
            if (read == 0) {
                source.requireUnchanged();
            } else if (position[0] == 0) {
                requireBeginning(source, portion, region, target.slice(target.position(), (int) read));
            }
            position[0] += read;
            return read;
        };
    }

    private static void requireBeginning(SourceReader source, Portion portion, int region, ByteBuffer first) {
        try {
            portion.copy().array().data().requireBeginning(region, first);
        } catch (LarderException e) {
            source.requireUnchanged(); // else it is not the file that was scanned which is bad
            throw e;
        }
    }

    private void copyStream(SourceArray array, SegmentWriter writer, Checksum checksum) throws IOException {
        array.files().forEach(SourceIdentity::requireUnchanged);
        try (ReadableByteChannel data = array.openForLastTime()) {
            writer.copy((target, address) -> fill(data, target), array.byteSize(), checksum, progress::addBytes);
        }
        array.files().forEach(SourceIdentity::requireUnchanged);
    }

    private static LarderException unreadable(SourceArray array, IOException reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot copy array")
                .with("array", array.name())
                .with("file", array.file())
                .with("reason", reason)
                .cause(reason)
                .remedy("check the file and its disk");
    }

    private static long fill(ReadableByteChannel data, ByteBuffer target) throws IOException {
        int read;
        do {
            read = data.read(target);
        } while (read == 0);
        return read;
    }
}
