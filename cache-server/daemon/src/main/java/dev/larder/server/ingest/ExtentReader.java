package dev.larder.server.ingest;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.ScatterList;
import dev.larder.server.ingest.SegmentStretch.Piece;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the extents of stretches in the order of their bytes in files. One read fills memory of several segments if the extents are close
 * together. Belongs to one thread; owns the descriptor of the file that it reads.
 */
final class ExtentReader implements AutoCloseable {
    /** Small enough that the checksums find the bytes of the last read in the cache. */
    private static final long STEP_BYTES = 256 << 10;

    /** To read this many unused bytes takes less time than another call. */
    private static final int MOST_GAP_BYTES = 4 << 10;

    private static final int MOST_PIECES = 128;

    /** One for each copying thread. There are few such threads, and they end with their load. */
    private static final ThreadLocal<ScatterList> LIST =
            ThreadLocal.withInitial(() -> new ScatterList(MOST_PIECES, MOST_GAP_BYTES));

    private final LoadProgress progress;
    private final ScatterList memory = LIST.get();
    private final List<Piece> pieces = new ArrayList<>();
    private @Nullable SourceReader source;
    private @Nullable SourceIdentity file;
    private long position;

    private ExtentReader(LoadProgress progress) {
        this.progress = progress;
        memory.clear();
    }

    /** Copies stretches of different segments together. */
    static void copy(List<SegmentStretch> stretches, LoadProgress progress) {
        for (int i = 0; i < stretches.size(); i++) {
            stretches.get(i).begin(i, stretches.size());
        }
        try (ExtentReader reader = new ExtentReader(progress)) {
            for (SegmentStretch next = reader.next(stretches); next != null; next = reader.next(stretches)) {
                reader.copyNext(next);
            }
            reader.endFile();
        }
        stretches.forEach(SegmentStretch::finish);
    }

    /** Returns the stretch with the first next bytes in the open file, else one of another file; null if all are taken. */
    private @Nullable SegmentStretch next(List<SegmentStretch> stretches) {
        SegmentStretch first = null;
        long least = Long.MAX_VALUE;
        for (SegmentStretch stretch : stretches) {
            if (stretch.isAtEnd()) {
                continue;
            }
            boolean isInFile = stretch.hasExtent() && stretch.file().equals(file);
            if (first == null || (isInFile && stretch.filePosition() < least)) {
                first = stretch;
                least = isInFile ? stretch.filePosition() : Long.MAX_VALUE;
            }
        }
        return first;
    }

    private void copyNext(SegmentStretch stretch) {
        if (!stretch.hasExtent()) {
            read();
            stretch.copyStream(progress);
            return;
        }
        if (source == null || !stretch.file().equals(file)) { // extents of one file often follow each other
            endFile();
            source = SourceReader.open(stretch.file());
            file = stretch.file();
        }
        long gap = stretch.filePosition() - position - memory.byteSize();
        long length = Math.min(STEP_BYTES, stretch.contiguousBytes());
        boolean fits = gap >= 0
                && gap <= MOST_GAP_BYTES
                && memory.room() >= 2
                && memory.byteSize() + gap + length <= STEP_BYTES
                && (stretch.hasRoom() || pieces.stream().noneMatch(piece -> piece.stretch() == stretch));
        if (!fits) {
            read();
        }
        if (pieces.isEmpty()) {
            position = stretch.filePosition();
        } else if (gap > 0) {
            memory.skip(gap);
        }
        pieces.add(stretch.take(length, memory));
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
            int expected = piece.memory().remaining();
            int available = (int) Math.max(0, Math.min(expected, position + read - piece.position()));
            SegmentArray array = piece.part().array();
            if (piece.position() == 0 && available > 0) {
                requireBeginning(
                        source, array.source(), piece.extent(), piece.memory().slice(0, available));
            }
            if (available < expected) {
                throw array.unreadable(new IOException("it ends " + (expected - available) + " bytes too early"));
            }
            piece.part().checksum().update(piece.memory());
            copied += expected;
        }
        progress.addBytes(copied);
        pieces.clear();
        memory.clear();
    }

    private static void requireBeginning(SourceReader source, SourceArray array, int extent, ByteBuffer first) {
        try {
            array.requireBeginning(extent, first);
        } catch (LarderException e) {
            source.requireUnchanged(); // a file that changed since the scan is another failure
            throw e;
        }
    }

    /** Fills the last pieces from the open file, checks that the file has not changed, and closes it. */
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
