package dev.larder.readers.parquet;

import dev.hardwood.metadata.RowGroup;
import dev.hardwood.reader.ColumnReader;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.schema.ColumnSchema;
import dev.larder.reader.BadSource;
import dev.larder.reader.ByteSequence;
import dev.larder.reader.InputFile;
import dev.larder.reader.Offer;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.RefusedColumns;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One column of a table: its pieces, one from each file, and where in its arrays each of them goes. */
final class TableColumn {
    private static final String MASK = ".mask";

    /** How many elements of lists are decoded at a time: the library counts rows, and would decode lists of any length a row group at once. */
    private static final int BATCH_ELEMENTS = 1 << 18;

    /** The library takes memory for as many rows as this, or more, however few there are. */
    private static final int LEAST_BATCH_ROWS = 16_384;

    private final String whole;
    private final String level;
    private final String name;
    private final ColumnKind kind;
    private final List<Piece> pieces = new ArrayList<>();
    private int firstOffer;
    private boolean hasMask;

    TableColumn(String whole, String level, String name, ColumnKind kind) {
        this.whole = whole;
        this.level = level;
        this.name = name;
        this.kind = kind;
    }

    ColumnKind kind() {
        return kind;
    }

    String name() {
        return name;
    }

    int firstOffer() {
        return firstOffer;
    }

    /** Returns the number of the offer of the mask; -1 where there is none. */
    int maskOffer() {
        return hasMask ? firstOffer + (kind.form() == ColumnKind.Form.NUMBERS ? 1 : offersOfForm()) : -1;
    }

    private int offersOfForm() {
        return kind.form() == ColumnKind.Form.LISTS ? 3 : 2;
    }

    List<Piece> pieces() {
        return pieces;
    }

    void add(Piece piece) {
        pieces.add(piece);
    }

    void requireKind(int file, ColumnKind other) throws BadSource {
        if (!kind.equals(other)) {
            throw new BadSource(
                    file,
                    BadSource.NOWHERE,
                    name,
                    "it is " + other.dtype() + " " + other.form() + ", but in the first file " + kind.dtype() + " "
                            + kind.form(),
                    "write all files with one schema, or leave some out with --exclude");
        }
    }

    /** Refuses a column that some file of its table has not, or has more than once. */
    void requireIn(List<InputFile> files, long[] rows, RefusedColumns refused) {
        int[] timesOf = new int[files.size()];
        pieces.forEach(piece -> timesOf[piece.file]++);
        for (int file = 0; file < files.size(); file++) {
            long times = timesOf[file];
            if (files.get(file).level().equals(level) && rows[file] > 0 && times != 1) {
                String reason = times > 1
                        ? "it has " + times + " fields that would be called so"
                        : "it has no such column, and "
                                + files.get(pieces.get(0).file).path().getFileName() + " has";
                refused.add(new BadSource(file, BadSource.NOWHERE, name, reason, "leave files out with --exclude"));
                return;
            }
        }
    }

    /** Lays the pieces out, once they are measured, and offers the arrays. */
    void offer(List<Offer> offers) {
        firstOffer = offers.size();
        long rows = 0;
        long elements = 0;
        for (Piece piece : pieces) {
            piece.firstElement = elements;
            elements += piece.elements;
            rows += piece.rows;
            hasMask |= piece.nulls > 0;
        }
        switch (kind.form()) {
            case NUMBERS -> offers.add(Offer.array(whole, kind.dtype(), List.of(rows)));
            case STRINGS -> offers.addAll(Offer.strings(whole, rows, elements));
            case BYTES -> offers.addAll(Offer.bytes(whole, rows, elements));
            case LISTS -> offers.addAll(Offer.ragged(whole, kind.dtype(), rows, elements));
        }
        if (hasMask) {
            offers.add(Offer.array(whole + MASK, "|b1", List.of(rows)));
        }
    }

    /** The part of a column that one file has. */
    static final class Piece {
        private final int file;
        private final OpenedFile opened;
        private final ColumnSchema schema;
        private final long firstRow;
        private final long rows;
        private long nulls;
        private long elements;
        private long firstElement;

        Piece(int file, OpenedFile opened, ColumnSchema schema, long firstRow, long nulls) {
            this.file = file;
            this.opened = opened;
            this.schema = schema;
            this.firstRow = firstRow;
            this.rows = opened.reader().getFileMetaData().numRows();
            this.nulls = nulls;
        }

        /** Opens it; null where it has no rows, as the library takes what some writers write then for damage. */
        private @Nullable ColumnReader open(TableColumn column) throws IOException {
            if (rows == 0) {
                return null;
            }
            requirePages(column);
            ParquetFileReader.ColumnReaderBuilder builder =
                    opened.only(schema.columnIndex()).buildColumnReader(0);
            if (schema.maxRepetitionLevel() > 0) {
                builder.batchSize(batchRows());
            } else if (rows < LEAST_BATCH_ROWS) {
                builder.batchSize((int) rows);
            }
            return builder.build();
        }

        private List<RowGroup> rowGroups() {
            return opened.reader().getFileMetaData().rowGroups();
        }

        private void requirePages(TableColumn column) throws IOException {
            try {
                for (RowGroup group : rowGroups()) {
                    ColumnPages.require(opened.file(), group.columns().get(schema.columnIndex()));
                }
            } catch (ColumnPages.BadPage e) {
                throw BadSource.damaged(file, e.offset(), column.name, String.valueOf(e.getMessage()));
            } catch (IOException e) {
                throw BadSource.unreadable(file, column.name, e);
            }
        }

        private int batchRows() {
            long values = 0;
            for (RowGroup group : rowGroups()) {
                values += group.columns().get(schema.columnIndex()).metaData().numValues();
            }
            long listLength = Math.max(1, values / rows);
            return (int) Math.clamp(BATCH_ELEMENTS / listLength, 1, rows);
        }

        /** Returns whether reading may show that the column cannot be loaded: its metadata do not rule out nulls in its lists. */
        boolean mayBeRefused(TableColumn column) {
            return column.kind.form() == ColumnKind.Form.LISTS && nulls != 0;
        }

        /** Counts elements or bytes, and nulls, if the metadata do not. */
        void measure(TableColumn column, ReadProgress progress, RefusedColumns refused) throws IOException {
            boolean isNumbers = column.kind.form() == ColumnKind.Form.NUMBERS;
            if (isNumbers && nulls >= 0) {
                return;
            }
            try (ColumnReader values = open(column)) {
                nulls = 0;
                while (values != null && values.nextBatch()) {
                    Batch batch = new Batch(values, schema, column.kind);
                    if (batch.hasNullsInLists()) {
                        refused.add(file, column.name, "its lists have nulls, which no mask could show");
                        return;
                    }
                    nulls += batch.nullRows();
                    elements += isNumbers ? 0 : batch.elements();
                    progress.looked(batch.rows());
                }
            } catch (RuntimeException | OutOfMemoryError | StackOverflowError e) {
                throw refusal(column, e);
            }
        }

        /** Writes this part of every array of the column. */
        void write(TableColumn column, Output output) throws IOException {
            ColumnKind kind = column.kind;
            int first = column.firstOffer;
            boolean isNumbers = kind.form() == ColumnKind.Form.NUMBERS;
            long row = firstRow;
            long element = firstElement;
            ByteSequence offsets = null;
            ByteSequence lengths = null;
            if (!isNumbers) {
                boolean isFirst = this == column.pieces.get(0);
                offsets = new ByteSequence(output, first + 1, isFirst ? 0 : (firstRow + 1) * Long.BYTES);
                if (isFirst) {
                    offsets.putLong(0);
                }
                lengths = kind.form() == ColumnKind.Form.LISTS
                        ? new ByteSequence(output, first + 2, firstRow * Long.BYTES)
                        : null;
            }
            try (ColumnReader values = open(column)) {
                while (values != null && values.nextBatch()) {
                    Batch batch = new Batch(values, schema, kind);
                    if (batch.rows() > firstRow + rows - row) {
                        throw wrongRows(column, row - firstRow + batch.rows());
                    }
                    if (column.hasMask) {
                        batch.putMask(output.at(column.maskOffer(), row, batch.rows()));
                    } else if (schema.maxDefinitionLevel() > 0 && batch.nullRows() > 0) {
                        throw BadSource.damaged(
                                file,
                                BadSource.NOWHERE,
                                column.name,
                                "its metadata says that no row is null, and some are");
                    }
                    if (offsets == null) {
                        batch.putNumbers(output.at(first, row * kind.itemBytes(), batch.rows() * kind.itemBytes()));
                    } else {
                        int bytes = Math.multiplyExact(batch.elements(), kind.itemBytes());
                        batch.putElements(output.at(first, element * kind.itemBytes(), bytes));
                        batch.putEnds(element, offsets, lengths);
                        element += batch.elements();
                    }
                    row += batch.rows();
                }
                if (offsets != null) {
                    offsets.flush();
                }
                if (lengths != null) {
                    lengths.flush();
                }
            } catch (RuntimeException | OutOfMemoryError | StackOverflowError e) {
                throw refusal(column, e);
            }
            if (row != firstRow + rows) {
                throw wrongRows(column, row - firstRow);
            }
        }

        private BadSource wrongRows(TableColumn column, long found) {
            return BadSource.damaged(
                    file, BadSource.NOWHERE, column.name, "it has " + found + " rows where the file says " + rows);
        }

        private BadSource refusal(TableColumn column, Throwable failure) {
            return BadSource.unreadable(file, column.name, failure);
        }
    }
}
