package dev.larder.readers.parquet;

import dev.hardwood.HardwoodContext;
import dev.hardwood.internal.EncryptedParquetException;
import dev.hardwood.metadata.FileMetaData;
import dev.hardwood.metadata.LogicalType;
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
import java.util.Set;

/**
 * Parquet files, one table for each level; folders of partitions are parts of one table. Columns are read twice if their length is not in the
 * metadata.
 */
final class ParquetSource implements OpenedSource {
    private final List<Partition> partitions;
    private final ReadRequest request;
    private final ReadProgress progress;
    private final HardwoodContext context;
    private final List<ParquetFileReader> readers = new ArrayList<>();
    private final Map<String, TableColumn> columns = new LinkedHashMap<>();
    private final Map<String, PartitionColumn> partitionColumns = new LinkedHashMap<>();
    private final Map<String, String> listOwners = new HashMap<>();
    private final List<Offer> offers = new ArrayList<>();
    private final RefusedColumns refused = new RefusedColumns();

    ParquetSource(ReadRequest request, ReadProgress progress) {
        this.partitions = request.files().stream().map(Partition::of).toList();
        this.request = new ReadRequest(
                partitions.stream().map(Partition::file).toList(),
                request.as(),
                request.columns(),
                request.workers(),
                request.decimals());
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
        addPartitions(rowsOfFiles);
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
        partitionColumns.values().forEach(column -> column.offer(offers));
    }

    /** Adds the columns that only the names of folders have. Those of one table must have the same. */
    private void addPartitions(long[] rowsOfFiles) throws BadSource {
        Map<String, Partition> firsts = new HashMap<>();
        for (int number = 0; number < rowsOfFiles.length; number++) {
            Partition its = partitions.get(number);
            String level = its.file().level();
            Partition first = firsts.computeIfAbsent(level, unused -> its);
            if (!first.keys().equals(its.keys())) {
                throw new BadSource(
                        number,
                        BadSource.NOWHERE,
                        "",
                        "its folder names the partitions " + its.keys() + ", and that of "
                                + first.file().path() + " names " + first.keys(),
                        "leave some files out with --exclude, or load the folders apart");
            }
            if (Set.copyOf(its.keys()).size() < its.keys().size()) {
                throw new BadSource(
                        number,
                        BadSource.NOWHERE,
                        "",
                        "its folder names a partition twice: " + its.keys(),
                        "rename a folder, or leave the file out with --exclude");
            }
            for (int i = 0; i < its.keys().size(); i++) {
                String name = its.keys().get(i);
                if (!request.wants(number, name)) {
                    refused.unwanted();
                } else if (!columns.containsKey(level + name)) { // some writers keep the column in the file
                    partitionColumns
                            .computeIfAbsent(level + name, PartitionColumn::new)
                            .add(its.values().get(i), rowsOfFiles[number]);
                }
            }
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
            ColumnKind its = leaf.kind();
            if (its == null) {
                refused.add(unfit(file, leaf));
                continue;
            }
            ColumnKind kind = request.decimals().equals(ReadRequest.DOUBLES) ? its.withDoubles() : its;
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
        String words = leaf.objection().isEmpty() ? schema.type() + (type == null ? "" : " " + type) : leaf.objection();
        return new BadSource(file, BadSource.NOWHERE, leaf.name(), "no array can hold its type: " + words, "");
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
        partitionColumns.values().forEach(column -> parts.add(() -> column.write(output)));
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
