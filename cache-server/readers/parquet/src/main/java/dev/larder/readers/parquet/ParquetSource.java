package dev.larder.readers.parquet;

import dev.hardwood.HardwoodContext;
import dev.hardwood.internal.EncryptedParquetException;
import dev.hardwood.metadata.ColumnMetaData;
import dev.hardwood.metadata.FileMetaData;
import dev.hardwood.metadata.LogicalType;
import dev.hardwood.metadata.PhysicalType;
import dev.hardwood.metadata.RowGroup;
import dev.hardwood.metadata.SchemaElement;
import dev.hardwood.metadata.Statistics;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.schema.ColumnSchema;
import dev.hardwood.schema.FileSchema;
import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.RefusedColumns;
import dev.larder.reader.WorkerThreads;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Some Parquet files, those of each level one table. Columns whose length only their values tell are read twice. */
final class ParquetSource implements OpenedSource {
    private static final String DECIMAL_REMEDY =
            "write decimals as doubles (in pyarrow: table.column(NAME).cast(\"float64\"))";
    private static final String INT96_REMEDY =
            "write INT96 as timestamps (read and write it with pyarrow, or in Spark set"
                    + " spark.sql.parquet.outputTimestampType=TIMESTAMP_MICROS)";
    private static final int MOST_TYPE_CHARS = 40;

    private final ReadRequest request;
    private final ReadProgress progress;
    private final HardwoodContext context;
    private final List<ParquetFileReader> readers = new ArrayList<>();
    private final Map<String, TableColumn> columns = new LinkedHashMap<>();
    private final List<Offer> offers = new ArrayList<>();
    private final RefusedColumns refused = new RefusedColumns();

    ParquetSource(ReadRequest request, ReadProgress progress) {
        this.request = request;
        this.progress = progress;
        this.context = HardwoodContext.create(Math.max(1, request.workers()));
    }

    void look() throws IOException {
        Map<String, Long> rows = new LinkedHashMap<>();
        long[] rowsOfFiles = new long[request.files().size()];
        for (int number = 0; number < rowsOfFiles.length; number++) {
            InputFile input = request.files().get(number);
            try {
                OpenedFile opened = OpenedFile.of(input.path(), context);
                readers.add(opened.reader());
                requireRows(number, opened.reader().getFileMetaData());
                requireColumns(number, opened);
                long first = rows.getOrDefault(input.level(), 0L);
                addColumns(number, input.level(), opened, first);
                rowsOfFiles[number] = opened.reader().getFileMetaData().numRows();
                rows.put(input.level(), first + rowsOfFiles[number]);
            } catch (BadSource e) {
                throw e;
            } catch (EncryptedParquetException e) {
                throw new BadSource(
                        number,
                        BadSource.NOWHERE,
                        "",
                        "it is encrypted",
                        "write it again without encryption where its keys are, or leave the file out with --exclude");
            } catch (IOException | RuntimeException | OutOfMemoryError | StackOverflowError e) {
                throw BadSource.unreadable(number, "", e);
            }
            progress.looked(1);
        }
        columns.values().forEach(column -> column.requireIn(request.files(), rowsOfFiles, refused));
        boolean isRefused = refused.hasAny(); // then only columns that may be refused as well are read
        List<WorkerThreads.Part> parts = new ArrayList<>();
        for (TableColumn column : columns.values()) {
            for (TableColumn.Piece piece : column.pieces()) {
                if (!isRefused || piece.mayBeRefused(column)) {
                    parts.add(() -> piece.measure(column, progress, refused));
                }
            }
        }
        WorkerThreads.runAll(request.workers(), parts);
        refused.requireNone(names());
        for (TableColumn column : columns.values()) {
            column.offer(offers);
        }
    }

    private static void requireRows(int file, FileMetaData meta) throws BadSource {
        long rows = 0;
        boolean isSound = true;
        for (RowGroup group : meta.rowGroups()) {
            isSound &= group.numRows() >= 0;
            rows += group.numRows();
        }
        if (!isSound || rows != meta.numRows() || rows < 0) {
            throw BadSource.damaged(
                    file,
                    BadSource.NOWHERE,
                    "",
                    "it says that it has " + meta.numRows() + " rows, and its row groups have " + rows);
        }
    }

    /** Refuses a file if its schema and its row groups have different columns: some would be lost. */
    private static void requireColumns(int file, OpenedFile opened) throws BadSource {
        FileMetaData meta = opened.reader().getFileMetaData();
        int columns = opened.reader().getFileSchema().getColumnCount();
        long elements = 1;
        for (SchemaElement element : meta.schema()) {
            elements += element.numChildren() == null ? 0 : element.numChildren();
        }
        for (RowGroup group : meta.rowGroups()) {
            if (group.columns().size() != columns) {
                elements = -1;
            }
        }
        if (elements != meta.schema().size() || opened.paths().size() != columns) {
            throw BadSource.damaged(
                    file, BadSource.NOWHERE, "", "its schema and its row groups have different columns");
        }
    }

    private List<String> names() {
        return columns.values().stream().map(TableColumn::name).toList();
    }

    private void addColumns(int file, String level, OpenedFile opened, long firstRow) throws BadSource {
        FileMetaData meta = opened.reader().getFileMetaData();
        FileSchema fields = opened.reader().getFileSchema();
        ColumnNames names = new ColumnNames(fields);
        Map<String, String> durations = ArrowDurations.of(file, meta.keyValueMetadata());
        for (ColumnSchema schema : fields.getColumns()) {
            String name = names.of(schema);
            if (!request.wants(file, name)) {
                refused.unwanted();
                continue;
            }
            ColumnKind kind = names.isOfMap(schema) ? null : ColumnKind.of(schema, durations.get(name));
            if (kind == null) {
                refused.add(unfit(file, name, schema, names.isOfMap(schema)));
                continue;
            }
            TableColumn column =
                    columns.computeIfAbsent(level + name, whole -> new TableColumn(whole, level, name, kind));
            column.requireKind(file, kind);
            column.add(new TableColumn.Piece(file, opened, schema, firstRow, nulls(meta, schema)));
        }
    }

    private static BadSource unfit(int file, String name, ColumnSchema schema, boolean isOfMap) {
        String logical = schema.logicalType() == null ? "" : " " + schema.logicalType();
        if (logical.length() > MOST_TYPE_CHARS) { // a geometry has its whole reference system there
            logical = logical.substring(0, MOST_TYPE_CHARS) + "…";
        }
        if (ColumnKind.contradictsItself(schema)) {
            return BadSource.damaged(
                    file,
                    BadSource.NOWHERE,
                    name,
                    "its types contradict each other: " + schema.type() + " cannot be" + logical);
        }
        String within = isOfMap ? " in maps" : schema.maxRepetitionLevel() > 0 ? " in lists" : "";
        String remedy = schema.type() == PhysicalType.INT96
                ? INT96_REMEDY
                : schema.logicalType() instanceof LogicalType.DecimalType ? DECIMAL_REMEDY : "";
        return new BadSource(
                file,
                BadSource.NOWHERE,
                name,
                "its type is not one that numpy or a column has: " + schema.type() + logical + within,
                remedy);
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
