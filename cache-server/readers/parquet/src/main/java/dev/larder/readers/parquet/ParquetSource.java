package dev.larder.readers.parquet;

import dev.hardwood.HardwoodContext;
import dev.hardwood.internal.EncryptedParquetException;
import dev.hardwood.metadata.FileMetaData;
import dev.hardwood.metadata.LogicalType;
import dev.hardwood.metadata.PhysicalType;
import dev.hardwood.metadata.RowGroup;
import dev.hardwood.metadata.SchemaElement;
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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parquet files, one table for each level. Columns are read twice if their length is not in the metadata. */
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
    private final Map<String, String> listOwners = new HashMap<>();
    private final List<Offer> offers = new ArrayList<>();
    private final RefusedColumns refused = new RefusedColumns();

    ParquetSource(ReadRequest request, ReadProgress progress) {
        this.request = request;
        this.progress = progress;
        this.context = HardwoodContext.create(Math.max(1, request.workers()));
    }

    void look() throws IOException {
        long[] rowsOfFiles = new long[request.files().size()];
        for (int number = 0; number < rowsOfFiles.length; number++) {
            InputFile input = request.files().get(number);
            try {
                OpenedFile opened = OpenedFile.of(input.path(), context);
                readers.add(opened.reader());
                requireRows(number, opened.reader().getFileMetaData());
                requireColumns(number, opened);
                addColumns(number, input.level(), opened);
                rowsOfFiles[number] = opened.reader().getFileMetaData().numRows();
            } catch (BadSource e) {
                throw e;
            } catch (EncryptedParquetException e) {
                throw new BadSource(
                        number,
                        BadSource.NOWHERE,
                        "",
                        "it is encrypted",
                        "write it again without encryption, with its keys, or leave the file out with --exclude");
            } catch (IOException | RuntimeException | OutOfMemoryError | StackOverflowError e) {
                throw BadSource.unreadable(number, "", e);
            }
            progress.looked(1);
        }
        columns.values().forEach(column -> column.requireIn(request.files(), rowsOfFiles, refused));
        boolean isRefused = refused.hasAny(); // then only columns that may be refused as well are read
        List<WorkerThreads.Part> parts = new ArrayList<>();
        for (TableColumn column : columns.values()) {
            addMeasuring(column, isRefused, parts);
        }
        WorkerThreads.runAll(request.workers(), parts);
        refused.requireNone(names());
        for (TableColumn column : columns.values()) {
            column.offer(offers);
        }
    }

    private void addMeasuring(TableColumn column, boolean isRefused, List<WorkerThreads.Part> parts) {
        Words words = column.words();
        List<ColumnPiece> pieces = column.pieces().stream()
                .filter(piece -> !isRefused || piece.mayBeRefused())
                .toList();
        if (words == null) {
            pieces.forEach(piece -> parts.add(() -> piece.measure(progress, refused)));
            return;
        }
        parts.add(
                () -> { // in their order, which is that of the words
                    for (ColumnPiece piece : pieces) {
                        piece.measure(progress, refused);
                    }
                    words.complete();
                });
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
                    "its footer claims " + meta.numRows() + " rows, and its row groups have " + rows);
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

    private void addColumns(int file, String level, OpenedFile opened) throws BadSource {
        FileMetaData meta = opened.reader().getFileMetaData();
        FileSchema fields = opened.reader().getFileSchema();
        for (FileFields.Leaf leaf : FileFields.of(file, fields, meta.keyValueMetadata())) {
            if (!request.wants(file, leaf.name())) {
                refused.unwanted();
                continue;
            }
            ColumnKind kind = leaf.kind();
            if (kind == null) {
                refused.add(unfit(file, leaf));
                continue;
            }
            TableColumn column = columns.get(level + leaf.name());
            if (column == null) { // a new column compares no kinds: the first equals of a record takes 30 ms
                column = new TableColumn(level, leaf, kind, listOwners);
                columns.put(level + leaf.name(), column);
            } else {
                column.take(file, kind, leaf.lists());
            }
            column.add(new ColumnPiece(file, opened, leaf.schema(), column));
        }
    }

    private static BadSource unfit(int file, FileFields.Leaf leaf) {
        ColumnSchema schema = leaf.schema();
        LogicalType type = schema.logicalType();
        if (ColumnKind.contradictsItself(schema)) {
            return BadSource.damaged(
                    file,
                    BadSource.NOWHERE,
                    leaf.name(),
                    "its types contradict each other: " + schema.type() + " cannot be " + type);
        }
        String words = leaf.objection();
        String remedy = "";
        if (!words.isEmpty()) {
            return unfit(file, leaf.name(), words, remedy);
        } else if (type instanceof LogicalType.DecimalType decimal) {
            words = "decimal(" + decimal.precision() + ", " + decimal.scale() + ")";
            remedy = DECIMAL_REMEDY;
        } else if (type instanceof LogicalType.NullType) {
            words = "null";
        } else {
            words = schema.type() + (type == null ? "" : " " + type);
            remedy = schema.type() == PhysicalType.INT96 ? INT96_REMEDY : "";
        }
        boolean isLong = words.length() > MOST_TYPE_CHARS; // a geometry has its whole reference system there
        return unfit(file, leaf.name(), isLong ? words.substring(0, MOST_TYPE_CHARS) + "…" : words, remedy);
    }

    private static BadSource unfit(int file, String name, String type, String remedy) {
        return new BadSource(file, BadSource.NOWHERE, name, "no array can hold its type: " + type, remedy);
    }

    @Override
    public List<Offer> offers() {
        return offers;
    }

    @Override
    public void read(Output output) throws IOException {
        ListOffsets lists = new ListOffsets();
        List<WorkerThreads.Part> parts = new ArrayList<>();
        for (TableColumn column : columns.values()) {
            for (ColumnPiece piece : column.isOffered() ? column.pieces() : List.<ColumnPiece>of()) {
                parts.addAll(piece.writing(output, lists));
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
