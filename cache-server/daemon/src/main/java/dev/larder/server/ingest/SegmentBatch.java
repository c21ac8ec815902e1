package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.ScatterList;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.SegmentWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Stretches that follow each other in a segment, written by one thread, with the headers of the arrays that start in them. */
final class SegmentBatch {
    private final SegmentCopy segment;
    private final List<Stretch> stretches;
    private int next;
    private @Nullable SegmentWriter writer;

    SegmentBatch(SegmentCopy segment, List<Stretch> stretches) {
        this.segment = segment;
        this.stretches = List.copyOf(stretches);
    }

    List<Stretch> stretches() {
        return stretches;
    }

    /**
     * Starts to write. Several batches of one thread share its buffer.
     *
     * @param number the number of this batch, from 0
     * @param count how many batches the thread writes together
     */
    void begin(int number, int count) {
        long start = stretches.get(0).segmentStart();
        long end = stretches.get(stretches.size() - 1).segmentEnd();
        writer = segment.open().writer(start, end, number, count);
    }

    private SegmentWriter writer() {
        return Objects.requireNonNull(writer, "not begun");
    }

    /** Returns whether the memory for all bytes has been taken. */
    boolean isTaken() {
        return next == stretches.size();
    }

    /** Returns the stretch of the next bytes. */
    Stretch stretch() {
        return stretches.get(next);
    }

    /** Returns whether {@link #take} keeps the memory that was taken before. */
    boolean hasRoom() {
        return writer().shows(stretch().segmentPosition());
    }

    /** Takes memory of the segment for the next bytes of an extent, at most {@code most}, and adds it to what a read fills. */
    ByteBuffer take(long most, ScatterList read) {
        Stretch stretch = stretch();
        moveTo(stretch);
        ByteBuffer bytes = writer().take(Math.min(most, stretch.contiguousBytes()), read);
        stretch.advance(bytes.remaining());
        if (stretch.isAtEnd()) {
            next++;
        }
        return bytes;
    }

    /** Copies the next stretch, which is a stream or empty. */
    void copyStream(LoadProgress progress) {
        Stretch stretch = stretch();
        moveTo(stretch);
        if (stretch.isStream()) {
            SourceArray source = stretch.array().source();
            source.files().forEach(SourceIdentity::requireUnchanged);
            try (ReadableByteChannel data = source.openForLastTime()) {
                writer().copy(data, stretch.byteSize(), stretch.checksum(), progress::addBytes);
            } catch (IOException e) {
                throw unreadable(source, e);
            }
            source.files().forEach(SourceIdentity::requireUnchanged);
        }
        next++;
    }

    private void moveTo(Stretch stretch) {
        if (stretch.isAtHead()) {
            writer().skipTo(stretch.array().headOffset());
            writer().put(stretch.array().head());
        }
        writer().skipTo(stretch.segmentPosition());
    }

    /** Returns once all bytes are in the segment. */
    void finish() {
        writer().finish();
        segment.end(stretches);
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
