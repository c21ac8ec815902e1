package dev.larder.server.ingest;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.ScatterList;
import dev.larder.server.ingest.PortionCopy.Piece;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Copies portions in the order in which their bytes lie in files. What lies close together is read at once, and goes from there to the
 * segments that it belongs to. Belongs to one thread; owns the descriptor of the file that it reads.
 */
final class ScatterCopy implements AutoCloseable {
    /** Small enough that the checksums find in the cache what was just read. */
    private static final long STEP_BYTES = 256 << 10;

    /** To read so many bytes that nobody wants takes less time than another call. */
    private static final int MOST_GAP_BYTES = 4 << 10;

    private static final int MOST_PIECES = 128;

    /** One for each copying thread: they are few, and end with their load. */
    private static final ThreadLocal<ScatterList> LIST =
            ThreadLocal.withInitial(() -> new ScatterList(MOST_PIECES, MOST_GAP_BYTES));

    private final LoadProgress progress;
    private final ScatterList memory = LIST.get();
    private final List<Piece> pieces = new ArrayList<>();
    private @Nullable SourceIdentity file;
    private @Nullable SourceReader source;
    private long position;

    ScatterCopy(LoadProgress progress) {
        this.progress = progress;
        memory.clear();
    }

    /** Copies all of some portions, of which each has a writer of its own. */
    void copy(List<PortionCopy> portions) {
        for (PortionCopy next = next(portions); next != null; next = next(portions)) {
            if (source == null || !next.file().equals(file)) { // regions of one file often follow each other
                end();
                source = SourceReader.open(next.file());
                file = next.file();
            }
            take(next);
        }
        end();
    }

    /** Returns the portion whose next bytes come first in the file that is open, or any of another file. */
    private @Nullable PortionCopy next(List<PortionCopy> portions) {
        PortionCopy first = null;
        boolean isInFile = false;
        for (PortionCopy portion : portions) {
            if (portion.isTaken()) {
                continue;
            }
            boolean isToo = portion.file().equals(file);
            if (first == null || (isToo && (!isInFile || portion.position() < first.position()))) {
                first = portion;
                isInFile = isToo;
            }
        }
        return first;
    }

    private void take(PortionCopy portion) {
        long gap = portion.position() - position - memory.byteSize();
        long wanted = Math.min(STEP_BYTES, portion.contiguousBytes());
        boolean fits = gap >= 0
                && gap <= MOST_GAP_BYTES
                && memory.room() >= 2
                && memory.byteSize() + gap + wanted <= STEP_BYTES
                && !(portion.isRoomUsedUp() && isAwaited(portion));
        if (!fits) {
            read();
        }
        if (pieces.isEmpty()) {
            position = portion.position();
        } else if (gap > 0) {
            memory.skip(gap);
        }
        Piece piece = portion.take(wanted);
        memory.add(piece.room().address(), piece.byteSize());
        pieces.add(piece);
    }

    private boolean isAwaited(PortionCopy portion) {
        return pieces.stream().anyMatch(piece -> piece.owner() == portion);
    }

    private void read() {
        if (source == null || pieces.isEmpty()) {
            return;
        }
        long wanted = memory.byteSize();
        long read = source.read(position, memory);
        if (read < wanted) {
            source.requireUnchanged();
        }
        long copied = 0;
        for (Piece piece : pieces) {
            long its = position + read - piece.position();
            requireBeginning(source, piece, its);
            if (its < piece.byteSize()) {
                throw BatchCopy.unreadable(
                        piece.owner().array(),
                        new IOException("it ends " + (piece.byteSize() - Math.max(0, its)) + " bytes too early"));
            }
            piece.addToChecksum();
            copied += piece.byteSize();
        }
        progress.addBytes(copied);
        pieces.clear();
        memory.clear();
    }

    private static void requireBeginning(SourceReader source, Piece piece, long read) {
        try {
            piece.requireBeginning(read);
        } catch (LarderException e) {
            source.requireUnchanged(); // else it is not the file that was scanned which is bad
            throw e;
        }
    }

    /** Reads what is left to read, proves that the file was the same all the time, and closes it. */
    private void end() {
        SourceReader ended = source;
        if (ended != null) {
            read();
            ended.requireUnchanged();
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
