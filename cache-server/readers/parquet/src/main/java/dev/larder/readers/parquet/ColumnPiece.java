package dev.larder.readers.parquet;

import dev.hardwood.internal.reader.Dictionary;
import dev.hardwood.metadata.ColumnChunk;
import dev.hardwood.metadata.RowGroup;
import dev.hardwood.metadata.Statistics;
import dev.hardwood.reader.ColumnReader;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.schema.ColumnSchema;
import dev.larder.reader.BadSource;
import dev.larder.reader.ByteSequence;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.RefusedColumns;
import dev.larder.reader.WorkerThreads;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The part of a column that one file has. */
final class ColumnPiece {
    /** The elements of lists to decode together. The library counts rows, and would decode a whole row group of long lists. */
    private static final int BATCH_ELEMENTS = 1 << 18;

    /** The library allocates memory for at least this many rows. */
    private static final int LEAST_BATCH_ROWS = 16_384;

    private static final long UNKNOWN = -1;

    /** The largest ratio of a column's length to its packed length that is accepted without decoding it first. */
    private static final int BELIEVED_TIMES = 1032;

    private final int file;
    private final OpenedFile opened;
    private final ColumnSchema schema;
    private final TableColumn column;
    private final long[] firstRows;
    private final long[] rows;
    private final boolean[] hasNulls;

    /** The nulls in the metadata, {@link #UNKNOWN} if they are not there. */
    private final long nulls;

    private boolean hasValues;
    private boolean hasNullElements;
    private boolean isFull;
    private long elements;
    private long firstElement;

    ColumnPiece(int file, OpenedFile opened, ColumnSchema schema, TableColumn column) {
        this.file = file;
        this.opened = opened;
        this.schema = schema;
        this.column = column;
        this.firstRows = new long[column.depth() + 1];
        this.rows = new long[column.depth() + 1];
        this.hasNulls = new boolean[column.depth() + 1];
        this.rows[0] = opened.reader().getFileMetaData().numRows();
        this.nulls = nulls();
    }

    int file() {
        return file;
    }

    /** Returns the number of its first row at a depth among the rows of all pieces. */
    long firstRow(int depth) {
        return firstRows[depth];
    }

    long rows(int depth) {
        return rows[depth];
    }

    long firstElement() {
        return firstElement;
    }

    long elements() {
        return elements;
    }

    /** Returns whether a row was found that is not null, as values were decoded. */
    boolean hasValues() {
        return hasValues;
    }

    /** Returns whether an element of its lists of numbers is null. */
    boolean hasNullElements() {
        return hasNullElements;
    }

    /** Places it behind the rows and elements of the pieces before it; returns the elements with its own. */
    long place(long[] rowsBefore, long elementsBefore, boolean[] anyNulls) {
        for (int depth = 0; depth < rows.length; depth++) {
            firstRows[depth] = rowsBefore[depth];
            rowsBefore[depth] += rows[depth];
            anyNulls[depth] |= hasNulls[depth];
        }
        firstElement = elementsBefore;
        return elementsBefore + elements;
    }

    /** Opens it; returns null if it has no rows, because some writers then write pages that the library calls damaged. */
    private @Nullable ColumnReader open() throws IOException {
        if (rows[0] == 0) {
            return null;
        }
        for (ColumnChunk chunk : chunks()) {
            pages(chunk);
        }
        ParquetFileReader.ColumnReaderBuilder builder =
                opened.only(schema.columnIndex()).buildColumnReader(0);
        if (schema.maxRepetitionLevel() > 0) {
            builder.batchSize(batchRows());
        } else if (rows[0] < LEAST_BATCH_ROWS) {
            builder.batchSize((int) rows[0]);
        }
        return builder.build();
    }

    private List<ColumnChunk> chunks() {
        return opened.reader().getFileMetaData().rowGroups().stream()
                .map(RowGroup::columns)
                .map(columns -> columns.get(schema.columnIndex()))
                .toList();
    }

    /** Returns the pages of a row group, after proving that their headers can be true. */
    private ColumnPages pages(ColumnChunk chunk) throws BadSource {
        try {
            return ColumnPages.of(opened.file(), chunk);
        } catch (ColumnPages.BadPage e) {
            throw BadSource.damaged(file, e.offset(), column.name(), String.valueOf(e.getMessage()));
        } catch (IOException e) {
            throw BadSource.unreadable(file, column.name(), e);
        }
    }

    private long values() {
        return chunks().stream()
                .mapToLong(chunk -> chunk.metaData().numValues())
                .reduce(0, Math::addExact);
    }

    private int batchRows() {
        long listLength = Math.max(1, values() / rows[0]);
        return (int) Math.clamp(BATCH_ELEMENTS / listLength, 1, rows[0]);
    }

    private long nulls() {
        if (schema.maxDefinitionLevel() == 0) {
            return 0;
        }
        long sum = 0;
        for (ColumnChunk chunk : chunks()) {
            Statistics statistics = chunk.metaData().statistics();
            if (statistics == null || statistics.nullCount() == null) {
                return UNKNOWN;
            }
            sum += statistics.nullCount();
        }
        return sum;
    }

    /** Returns whether reading may show that the column cannot be loaded: its metadata do not rule out nulls in its lists. */
    boolean mayBeRefused() {
        return !column.kind().lists().isEmpty()
                && (nulls != 0 || column.kind().lists().size() > 1);
    }

    /** Counts rows, elements or bytes, and nulls, if the metadata do not. */
    void measure(ReadProgress progress, RefusedColumns refused) throws IOException {
        try {
            if (!isMeasured() && !areFull(progress)) {
                decode(progress, refused);
            }
        } catch (RuntimeException | OutOfMemoryError | StackOverflowError e) {
            throw refusal(e);
        }
    }

    private void decode(ReadProgress progress, RefusedColumns refused) throws IOException {
        ColumnKind kind = column.kind();
        boolean hasElements = kind.form() != ColumnKind.Form.NUMBERS && kind.form() != ColumnKind.Form.CODES;
        long decoded = 0;
        try (ColumnReader values = open()) {
            Words words = column.words();
            if (words != null && values != null) {
                takeDictionaries(words);
            }
            while (values != null && values.nextBatch()) {
                ColumnBatch batch = new ColumnBatch(values, schema, kind, column.depth());
                String objection = batch.objection();
                if (!objection.isEmpty()) {
                    refused.add(file, column.name(), objection);
                    return;
                }
                batch.requireLengths();
                for (int depth = 0; depth < rows.length; depth++) {
                    hasNulls[depth] |= batch.hasNulls(depth);
                    rows[depth] += depth == 0 ? 0 : batch.rows(depth);
                }
                hasValues |= !batch.isAllNull();
                hasNullElements |= batch.hasNullElements();
                elements += hasElements ? batch.elements() : 0;
                if (words != null) {
                    batch.takeCodes(words, code -> {});
                }
                decoded += batch.rows(0);
                progress.looked(batch.rows(0));
            }
        }
        if (decoded != rows[0]) {
            throw wrong("rows", decoded, rows[0]);
        }
    }

    /** Returns the refusal of a file that has another number of something than its metadata claim. */
    BadSource wrong(String things, long found, long said) {
        return BadSource.damaged(
                file,
                BadSource.NOWHERE,
                column.name(),
                "it has " + found + " " + things + ", and its metadata " + said);
    }

    /** Takes counts from the metadata; returns whether these are all. They are compared with the values when those are written. */
    private boolean isMeasured() throws IOException {
        boolean isOfNumbers = column.kind().form() == ColumnKind.Form.NUMBERS && column.depth() == 0;
        // pyarrow does not count empty lists among the nulls: so how many elements lists have is known only if all have
        // the same number
        boolean hasCounts = nulls != UNKNOWN && (nulls == 0 || schema.maxRepetitionLevel() == 0);
        if (!isOfNumbers
                || !hasCounts
                || !hasArrayOf(values())
                || !isBelievable(rows[0], column.kind(), packedBytes())) {
            return false;
        }
        hasNulls[0] = nulls > 0;
        isFull = rows[0] > 0 && (FullLists.areOf(schema, column.kind()) || areFewNumbers());
        return true;
    }

    /** Returns whether its rows are numbers, and so few that the library takes longer to start than to decode. */
    private boolean areFewNumbers() {
        return rows[0] < LEAST_BATCH_ROWS && FullLists.areNone(schema, column.kind());
    }

    /** Returns whether this many values fill all rows of an array. Outside of lists, each value is a row. */
    private boolean hasArrayOf(long values) {
        ColumnKind kind = column.kind();
        return kind.lists().isEmpty() || values == ColumnKind.product(rows[0], kind.valuesOfRow());
    }

    /** Returns whether an array is so small that a wrong claim does no harm until values are decoded. */
    static boolean isBelievable(long rows, ColumnKind kind, long packedBytes) {
        return ColumnKind.product(rows, kind.rowBytes()) / BELIEVED_TIMES <= packedBytes;
    }

    /** Returns how long its row groups are in the file. */
    long packedBytes() throws IOException {
        long claimed = chunks().stream()
                .mapToLong(chunk -> Math.max(0, chunk.metaData().totalCompressedSize()))
                .reduce(0, Math::addExact);
        return Math.min(claimed, opened.file().length());
    }

    /** Returns whether all its rows are full lists of numbers: these are read in a quicker way. */
    private boolean areFull(ReadProgress progress) throws BadSource {
        if (!FullLists.areOf(schema, column.kind()) || nulls > 0 || rows[0] == 0) {
            return false;
        }
        long values = 0;
        try {
            for (RowGroup group : opened.reader().getFileMetaData().rowGroups()) {
                ColumnChunk chunk = group.columns().get(schema.columnIndex());
                if (!fullLists(chunk).isFull(group.numRows())) {
                    return false;
                }
                values += chunk.metaData().numValues();
                progress.looked(chunk.metaData().numValues());
            }
        } catch (BadSource e) {
            throw e;
        } catch (IOException | RuntimeException | OutOfMemoryError | StackOverflowError e) {
            throw refusal(e);
        }
        boolean isRagged = column.kind().form() == ColumnKind.Form.LISTS;
        if (!isRagged && !hasArrayOf(values)) {
            return false;
        }
        hasValues = true;
        elements = isRagged ? values : 0;
        isFull = true;
        return true;
    }

    private FullLists fullLists(ColumnChunk chunk) throws BadSource {
        return new FullLists(opened, schema, column.kind(), chunk, pages(chunk), nulls > 0);
    }

    private void takeDictionaries(Words words) throws IOException {
        for (ColumnChunk chunk : chunks()) {
            Dictionary dictionary = opened.dictionary(chunk, schema, pages(chunk));
            if (dictionary != null) {
                words.take(dictionary);
            }
        }
    }

    /** Returns the parts of writing it into every array of the column. */
    List<WorkerThreads.Part> writing(Output output, ListOffsets seen) {
        if (!isFull) {
            return List.of(() -> write(output, seen));
        }
        List<WorkerThreads.Part> parts = new ArrayList<>();
        boolean isRagged = column.kind().form() == ColumnKind.Form.LISTS;
        boolean isFirst = column.pieces().get(0) == this;
        if (isRagged && isFirst) {
            parts.add(() -> output.at(column.firstOffer() + 1, 0, Long.BYTES).putLong(0));
        }
        if (isFirst) {
            parts.add(() -> column.putScale(output));
        }
        long row = firstRows[0];
        long element = isRagged ? firstElement : firstRows[0] * column.kind().valuesOfRow();
        for (RowGroup group : opened.reader().getFileMetaData().rowGroups()) {
            ColumnChunk chunk = group.columns().get(schema.columnIndex());
            long firstRow = row;
            long first = element;
            parts.add(() -> writeFull(chunk, output, firstRow, first, group.numRows()));
            row += group.numRows();
            element += chunk.metaData().numValues();
        }
        return parts;
    }

    private void writeFull(ColumnChunk chunk, Output output, long row, long element, long groupRows) throws BadSource {
        try {
            boolean areLists = schema.maxRepetitionLevel() > 0;
            int mask = column.maskOffer(0);
            fullLists(chunk).write(output, column.firstOffer(), areLists ? -1 : mask, row, element, groupRows);
            putZeros(output, areLists ? mask : -1, row, groupRows);
            putZeros(
                    output, column.elementMaskOffer(), element, chunk.metaData().numValues());
        } catch (BadSource e) {
            throw e;
        } catch (IOException | RuntimeException | OutOfMemoryError | StackOverflowError e) {
            throw refusal(e);
        }
    }

    /** Writes a part of a mask, if there is one, without nulls. */
    private static void putZeros(Output output, int offer, long from, long count) {
        if (offer >= 0) {
            ByteSequence mask = new ByteSequence(output, offer, from);
            for (long i = 0; i < count; i++) {
                mask.put((byte) 0);
            }
            mask.flush();
        }
    }

    private void write(Output output, ListOffsets seen) throws IOException {
        PieceWriter writer = new PieceWriter(column, this, output);
        try (ColumnReader values = open()) {
            while (values != null && values.nextBatch()) {
                writer.write(new ColumnBatch(values, schema, column.kind(), column.depth()));
            }
            writer.finish(seen);
        } catch (RuntimeException | OutOfMemoryError | StackOverflowError e) {
            throw refusal(e);
        }
    }

    private BadSource refusal(Throwable failure) {
        return failure instanceof NumberValues.Unfit unfit
                ? new BadSource(
                        file,
                        BadSource.NOWHERE,
                        column.name(),
                        String.valueOf(unfit.getMessage()),
                        unfit.remedy() + ", or leave it out with --columns")
                : BadSource.unreadable(file, column.name(), failure);
    }
}
