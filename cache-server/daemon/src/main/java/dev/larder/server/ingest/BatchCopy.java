package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.server.ingest.Portions.Portion;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.SegmentWriter;
import java.io.IOException;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/** A batch on its way into its segment, one portion after the other. Belongs to one thread. */
final class BatchCopy {
    private final SegmentCopy.Batch batch;
    private final SegmentWriter writer;
    private final LoadProgress progress;
    private final List<ArrayCopy> whole = new ArrayList<>();
    private int next;

    /**
     * Starts with the first portion.
     *
     * @param number which this is of the batches that the thread copies at once, from 0 on
     * @param count how many they are
     */
    BatchCopy(SegmentCopy.Batch batch, int number, int count, LoadProgress progress) {
        this.batch = batch;
        this.writer = batch.segment().writer(batch, number, count);
        this.progress = progress;
    }

    boolean hasNext() {
        return next < batch.portions().size();
    }

    /** Copies the next portions of batches, with one read for what lies together; all of them are regions, or one is a stream. */
    static void copyNext(List<BatchCopy> batches, ScatterCopy scatter) {
        BatchCopy first = batches.get(0);
        if (first.portion().regions().isEmpty()) {
            first.copyStream();
            return;
        }
        List<PortionCopy> copies = new ArrayList<>();
        for (BatchCopy batch : batches) {
            batch.writeHead();
            copies.add(new PortionCopy(batch.portion(), batch.writer));
        }
        scatter.copy(copies);
        for (int i = 0; i < copies.size(); i++) {
            batches.get(i).endPortion(copies.get(i).crc32c());
        }
    }

    private Portion portion() {
        return batch.portions().get(next);
    }

    private void writeHead() {
        if (portion().isFirst()) {
            writer.skipTo(portion().copy().placement().headOffset());
            writer.put(portion().copy().placement().head());
        }
        writer.skipTo(portion().segmentOffset());
    }

    private void copyStream() {
        writeHead();
        SourceArray array = portion().copy().array();
        CRC32C crc = new CRC32C();
        array.files().forEach(SourceIdentity::requireUnchanged);
        try (ReadableByteChannel data = array.openForLastTime()) {
            writer.copy(data, array.byteSize(), crc, progress::addBytes);
        } catch (IOException e) {
            throw unreadable(array, e);
        }
        array.files().forEach(SourceIdentity::requireUnchanged);
        endPortion((int) crc.getValue());
    }

    private void endPortion(int crc32c) {
        ArrayCopy copy = portion().copy();
        if (copy.add(portion().offset(), portion().byteSize(), crc32c)) {
            whole.add(copy);
        }
        next++;
    }

    /** Sees to it that everything is in the segment. */
    void finish() {
        writer.finish();
        batch.segment().end(whole);
    }

    static LarderException unreadable(SourceArray array, IOException reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot copy array")
                .with("array", array.name())
                .with("file", array.file())
                .with("reason", reason)
                .cause(reason)
                .remedy("check the file and its disk");
    }
}
