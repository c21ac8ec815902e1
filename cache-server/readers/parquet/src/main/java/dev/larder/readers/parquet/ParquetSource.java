package dev.larder.readers.parquet;

import dev.hardwood.HardwoodContext;
import dev.hardwood.metadata.ColumnMetaData;
import dev.hardwood.metadata.FileMetaData;
import dev.hardwood.metadata.RowGroup;
import dev.hardwood.metadata.Statistics;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.schema.ColumnSchema;
import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.WorkerThreads;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Some Parquet files, those of each level one table. Columns whose length only their values tell are read twice. */
final class ParquetSource implements OpenedSource {
    static final String ELSE = "name the columns that are wanted with --columns";

    private final ReadRequest request;
    private final ReadProgress progress;
    private final HardwoodContext context;
    private final List<ParquetFileReader> readers = new ArrayList<>();
    private final Map<String, TableColumn> columns = new LinkedHashMap<>();
    private final List<Offer> offers = new ArrayList<>();

    ParquetSource(ReadRequest request, ReadProgress progress) {
        this.request = request;
        this.progress = progress;
        this.context = HardwoodContext.create(Math.max(1, request.workers()));
    }

    void look() throws IOException {
        Map<String, Long> rows = new LinkedHashMap<>();
        for (int number = 0; number < request.files().size(); number++) {
            InputFile input = request.files().get(number);
            try {
                ParquetFileReader reader = ParquetFileReader.open(new CheckedFile(input.path()), context);
                readers.add(reader);
                long first = rows.getOrDefault(input.level(), 0L);
                addColumns(number, input.level(), reader, first);
                rows.put(input.level(), first + reader.getFileMetaData().numRows());
            } catch (BadSource e) {
                throw e;
            } catch (IOException | RuntimeException e) {
                throw BadSource.unreadable(number, "", e);
            }
            progress.looked(1);
        }
        List<WorkerThreads.Part> parts = new ArrayList<>();
        for (TableColumn column : columns.values()) {
            column.requireIn(request, rows);
            for (TableColumn.Piece piece : column.pieces()) {
                parts.add(() -> piece.measure(column, progress));
            }
        }
        WorkerThreads.runAll(request.workers(), parts);
        for (TableColumn column : columns.values()) {
            column.offer(offers);
        }
    }

    private void addColumns(int file, String level, ParquetFileReader reader, long firstRow) throws BadSource {
        FileMetaData meta = reader.getFileMetaData();
        ColumnNames names = new ColumnNames(reader.getFileSchema());
        for (ColumnSchema schema : reader.getFileSchema().getColumns()) {
            String name = names.of(schema);
            if (!request.wants(file, name)) {
                continue;
            }
            ColumnKind kind = names.isOfMap(schema) ? null : ColumnKind.of(schema);
            if (kind == null) {
                String logical = schema.logicalType() == null ? "" : " " + schema.logicalType();
                throw new BadSource(
                        file,
                        BadSource.NOWHERE,
                        name,
                        "its type is not one that numpy or a column has: " + schema.type() + logical
                                + (names.isOfMap(schema)
                                        ? " in maps"
                                        : schema.maxRepetitionLevel() > 0 ? " in lists" : ""),
                        ELSE);
            }
            TableColumn column =
                    columns.computeIfAbsent(level + name, whole -> new TableColumn(whole, level, name, kind));
            column.requireKind(file, kind);
            column.add(new TableColumn.Piece(file, reader, schema, firstRow, meta.numRows(), nulls(meta, schema)));
        }
    }

    /** Returns how many nulls the metadata tells of; -1 where they do not. */
    private static long nulls(FileMetaData meta, ColumnSchema schema) {
        if (schema.maxDefinitionLevel() == 0) {
            return 0;
        }
        long sum = 0;
        for (RowGroup group : meta.rowGroups()) {
            ColumnMetaData column = group.columns().get(schema.columnIndex()).metaData();
            Statistics statistics = column.statistics();
            if (statistics == null || statistics.nullCount() == null) {
                return -1;
            }
            sum += statistics.nullCount();
        }
        return sum;
    }

    @Override
    public List<Offer> offers() {
        return offers;
    }

    @Override
    public void read(Output output) throws IOException {
        List<WorkerThreads.Part> parts = new ArrayList<>();
        for (TableColumn column : columns.values()) {
            for (TableColumn.Piece piece : column.pieces()) {
                parts.add(() -> piece.write(column, output));
            }
        }
        WorkerThreads.runAll(request.workers(), parts);
    }

    @Override
    public void close() throws IOException {
        for (ParquetFileReader reader : readers) {
            reader.close();
        }
        context.close();
    }
}
