package dev.larder.readers.parquet;

import dev.larder.reader.BadSource;
import dev.larder.reader.ByteSequence;
import dev.larder.reader.Output;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Writes one piece of a column, batch after batch, and compares it with the measured counts. */
final class PieceWriter {
    private final TableColumn column;
    private final ColumnPiece piece;
    private final ColumnKind kind;
    private final Output output;
    private final int deepest;
    private final long[] written;
    private final long[] hashes;
    private final List<@Nullable ByteSequence> itemOffsets = new ArrayList<>();
    private final @Nullable ByteSequence offsets;
    private final @Nullable ByteSequence shapes;
    private long elements;

    PieceWriter(TableColumn column, ColumnPiece piece, Output output) {
        this.column = column;
        this.piece = piece;
        this.kind = column.kind();
        this.output = output;
        this.deepest = column.depth();
        this.written = new long[deepest + 1];
        this.hashes = new long[deepest];
        for (int depth = 0; depth < deepest; depth++) {
            int offer = column.offsetsOffer(depth);
            itemOffsets.add(offer < 0 ? null : offsets(offer, depth));
        }
        boolean hasRows = kind.form() != ColumnKind.Form.NUMBERS && kind.form() != ColumnKind.Form.CODES;
        this.offsets = hasRows ? offsets(column.firstOffer() + 1, deepest) : null;
        this.shapes = kind.form() == ColumnKind.Form.LISTS
                ? new ByteSequence(
                        output,
                        column.firstOffer() + 2,
                        piece.firstRow(deepest) * Long.BYTES * kind.lists().size())
                : null;
    }

    private boolean isFirst() {
        return column.pieces().get(0) == piece;
    }

    private ByteSequence offsets(int offer, int depth) {
        ByteSequence sequence =
                new ByteSequence(output, offer, isFirst() ? 0 : (piece.firstRow(depth) + 1) * Long.BYTES);
        if (isFirst()) {
            sequence.putLong(0);
        }
        return sequence;
    }

    void write(ColumnBatch batch) throws BadSource {
        for (int depth = 0; depth <= deepest; depth++) {
            requireRows(depth, written[depth] + batch.rows(depth), false);
        }
        if (!batch.objection().isEmpty()) {
            throw untrue();
        }
        for (int depth = 0; depth <= deepest; depth++) {
            putMask(batch, depth);
        }
        for (int depth = 0; depth < deepest; depth++) {
            hashes[depth] = batch.putItemEnds(
                    depth, piece.firstRow(depth + 1) + written[depth + 1], hashes[depth], itemOffsets.get(depth));
        }
        putElementMask(batch, piece.firstRow(deepest) + written[deepest]);
        putRows(batch, batch.rows(deepest), piece.firstRow(deepest) + written[deepest]);
        for (int depth = 0; depth <= deepest; depth++) {
            written[depth] += batch.rows(depth);
        }
    }

    private BadSource untrue() {
        return BadSource.damaged(
                piece.file(),
                BadSource.NOWHERE,
                column.name(),
                "its metadata has no null rows, and its values have some");
    }

    private void putMask(ColumnBatch batch, int depth) throws BadSource {
        int offer = column.maskOffer(depth);
        if (offer >= 0) {
            batch.putMask(depth, output.at(offer, piece.firstRow(depth) + written[depth], batch.rows(depth)));
        } else if (batch.hasNulls(depth)
                && (depth == deepest ? column.mustShowNulls() : column.offsetsOffer(depth) >= 0)) {
            throw untrue();
        }
    }

    private void putElementMask(ColumnBatch batch, long row) throws BadSource {
        int offer = column.elementMaskOffer();
        if (offer >= 0) {
            boolean isRagged = kind.form() == ColumnKind.Form.LISTS;
            long first = isRagged ? piece.firstElement() + elements : row * kind.valuesOfRow();
            batch.putElementMask(output.at(offer, first, batch.maskedElements()));
        } else if (batch.hasNullElements()) {
            throw untrue();
        }
    }

    private void putRows(ColumnBatch batch, int rows, long row) throws BadSource {
        int itemBytes = column.itemBytes();
        int first = column.firstOffer();
        if (kind.form() == ColumnKind.Form.CODES) {
            ByteBuffer target = output.at(first, row * itemBytes, rows * itemBytes);
            batch.takeCodes(Objects.requireNonNull(column.words()), code -> {
                switch (itemBytes) {
                    case Byte.BYTES -> target.put((byte) code);
                    case Short.BYTES -> target.putShort((short) code);
                    case Integer.BYTES -> target.putInt(code);
                    default -> target.putLong(code);
                }
            });
        } else if (offsets == null) {
            int rowBytes = Math.toIntExact(kind.rowBytes());
            batch.putNumbers(output.at(first, row * rowBytes, Math.multiplyExact(rows, rowBytes)));
        } else {
            int count = batch.elements();
            if (count > piece.elements() - elements) {
                throw piece.wrong("elements", elements + count, piece.elements());
            }
            long element = piece.firstElement() + elements;
            int bytes = Math.multiplyExact(count, itemBytes);
            batch.putElements(output.at(first, element * itemBytes, bytes));
            batch.putEnds(element, offsets, shapes);
            elements += count;
        }
    }

    private void requireRows(int depth, long found, boolean isAll) throws BadSource {
        long said = piece.rows(depth);
        if (found > said || (isAll && found < said)) {
            throw piece.wrong(depth == 0 ? "rows" : "items", found, said);
        }
    }

    /** Writes the buffered rest; to be called at the end. */
    void finish(ListOffsets seen) throws IOException {
        for (int depth = 0; depth <= deepest; depth++) {
            requireRows(depth, written[depth], true);
        }
        if (elements != piece.elements()) {
            throw piece.wrong("elements", elements, piece.elements());
        }
        for (int depth = 0; depth < deepest; depth++) {
            flush(itemOffsets.get(depth));
            seen.require(piece.file(), column.name(), column.lists().get(depth), hashes[depth]);
        }
        flush(offsets);
        flush(shapes);
        if (isFirst() && column.words() != null) {
            putClasses(column.words());
        }
        if (isFirst()) {
            column.putScale(output);
        }
    }

    private static void flush(@Nullable ByteSequence sequence) {
        if (sequence != null) {
            sequence.flush();
        }
    }

    private void putClasses(Words words) {
        int offer = column.classesOffer();
        ByteSequence bytes = new ByteSequence(output, offer, 0);
        ByteSequence ends =
                words.kind().form() == ColumnKind.Form.NUMBERS ? null : new ByteSequence(output, offer + 1, 0);
        long end = 0;
        if (ends != null) {
            ends.putLong(end);
        }
        for (ByteBuffer word : words.all()) {
            bytes.put(word.array(), word.arrayOffset(), word.remaining());
            end += word.remaining();
            if (ends != null) {
                ends.putLong(end);
            }
        }
        bytes.flush();
        flush(ends);
    }
}
