package dev.larder.server.ingest;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.ScatterList;
import dev.larder.server.source.Extents;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the extents of batches in the order in which they lie in files. One read fills the memory of several segments if their extents
 * are close together. Belongs to one thread; owns the descriptor of the file that it reads.
 */
final class ExtentReader implements AutoCloseable {
    /** Small enough that the checksums find the bytes of the last read in the cache. */
    private static final long STEP_BYTES = 256 << 10;

    /** To read this many unused bytes takes less time than another call. */
    private static final int MOST_GAP_BYTES = 4 << 10;

    private static final int MOST_PIECES = 128;

    /** One for each copying thread: they are few, and end with their load. */
    private static final ThreadLocal<ScatterList> LIST =
            ThreadLocal.withInitial(() -> new ScatterList(MOST_PIECES, MOST_GAP_BYTES));

    private final LoadProgress progress;
    private final ScatterList memory = LIST.get();
    private final List<Piece> pieces = new ArrayList<>();
    private @Nullable SourceReader source;
    private @Nullable SourceIdentity file;
    private long position;

    /** Bytes of an extent that the next read fills; {@code position} is where they start in the file. */
    private record Piece(SegmentBatch batch, Stretch stretch, int extent, long position, ByteBuffer bytes) {}

    private ExtentReader(LoadProgress progress) {
        this.progress = progress;
        memory.clear();
    }

    /** Copies batches together; each is of another segment. */
    static void copy(List<SegmentBatch> batches, LoadProgress progress) {
        for (int i = 0; i < batches.size(); i++) {
            batches.get(i).begin(i, batches.size());
        }
        try (ExtentReader reader = new ExtentReader(progress)) {
            reader.copy(batches);
        }
        batches.forEach(SegmentBatch::finish);
    }

    private void copy(List<SegmentBatch> batches) {
        for (SegmentBatch next = next(batches); next != null; next = next(batches)) {
            if (isStreamOrEmpty(next)) {
                read();
                next.copyStream(progress);
            } else {
                open(next.stretch().file());
                take(next);
            }
        }
        endFile();
    }

    private static boolean isStreamOrEmpty(SegmentBatch batch) {
        return batch.stretch().isStream() || batch.stretch().isAtEnd();
    }

    /** Returns the batch whose next bytes come first in the open file, or any batch of another file; null if none has any. */
    private @Nullable SegmentBatch next(List<SegmentBatch> batches) {
        SegmentBatch first = null;
        long least = Long.MAX_VALUE;
        for (SegmentBatch batch : batches) {
            if (batch.isTaken()) {
                continue;
            }
            if (isStreamOrEmpty(batch)) {
                return batch;
            }
            Stretch stretch = batch.stretch();
            long its = stretch.file().equals(file) ? stretch.filePosition() : Long.MAX_VALUE;
            if (first == null || its < least) {
                first = batch;
                least = its;
            }
        }
        return first;
    }

    private void open(SourceIdentity next) {
        if (source == null || !next.equals(file)) {
            endFile();
            source = SourceReader.open(next);
            file = next;
        }
    }

    private void take(SegmentBatch batch) {
        Stretch stretch = batch.stretch();
        long start = stretch.filePosition();
        long gap = start - position - memory.byteSize();
        long wanted = Math.min(STEP_BYTES, stretch.contiguousBytes());
        boolean fits = gap >= 0
                && gap <= MOST_GAP_BYTES
                && memory.room() >= 2
                && memory.byteSize() + gap + wanted <= STEP_BYTES
                && (batch.hasRoom() || !isAwaited(batch));
        if (!fits) {
            read();
        }
        if (pieces.isEmpty()) {
            position = start;
        } else if (gap > 0) {
            memory.skip(gap);
        }
        int extent = stretch.extentNumber();
        pieces.add(new Piece(batch, stretch, extent, start, batch.take(wanted, memory)));
    }

    private boolean isAwaited(SegmentBatch batch) {
        return pieces.stream().anyMatch(piece -> piece.batch() == batch);
    }

    /** Fills the pieces. */
    private void read() {
        if (source == null || pieces.isEmpty()) {
            return;
        }
        long read = source.read(position, memory);
        if (read < memory.byteSize()) {
            source.requireUnchanged();
        }
        long copied = 0;
        for (Piece piece : pieces) {
            int wanted = piece.bytes().remaining();
            long its = Math.min(wanted, position + read - piece.position());
            SourceArray array = piece.stretch().array().source();
            if (piece.position() == 0 && its > 0) {
                requireBeginning(source, array, piece.extent(), piece.bytes().slice(0, (int) its));
            }
            if (its < wanted) {
                throw SegmentBatch.unreadable(
                        array, new IOException("it ends " + (wanted - Math.max(0, its)) + " bytes too early"));
            }
            piece.stretch().checksum().update(piece.bytes());
            copied += wanted;
        }
        progress.addBytes(copied);
        pieces.clear();
        memory.clear();
    }

    private static void requireBeginning(SourceReader source, SourceArray array, int extent, ByteBuffer first) {
        try {
            if (array.data() instanceof Extents extents) {
                extents.requireBeginning(extent, first);
            }
        } catch (LarderException e) {
            source.requireUnchanged(); // a file that changed since the scan is another failure
            throw e;
        }
    }

    /** Reads what is left of the open file, proves that it never changed, and closes it. */
    private void endFile() {
        if (source != null) {
            read();
            source.requireUnchanged();
            close();
        }
    }

    @Override
    public void close() {
        SourceReader opened = source;
        source = null;
        file = null;
        if (opened != null) {
            opened.close();
        }
    }
}
