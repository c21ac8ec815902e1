package dev.larder.readers.parquet;

import dev.hardwood.HardwoodContext;
import dev.hardwood.InputFile;
import dev.hardwood.internal.reader.Dictionary;
import dev.hardwood.internal.reader.DictionaryParser;
import dev.hardwood.internal.reader.HardwoodContextImpl;
import dev.hardwood.metadata.ColumnChunk;
import dev.hardwood.metadata.ConvertedType;
import dev.hardwood.metadata.FileMetaData;
import dev.hardwood.metadata.LogicalType;
import dev.hardwood.metadata.RepetitionType;
import dev.hardwood.metadata.RowGroup;
import dev.hardwood.metadata.SchemaElement;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.schema.ColumnSchema;
import dev.hardwood.schema.FileSchema;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An open file and its footer. The library finds a column by the last part of its name: a column {@code x} behind a struct with a field
 * {@code x} gets that field's values, and a name with a dot is not found. It also looks at all columns of a row group for each column. Here it reads
 * each column from metadata that describe no other column.
 *
 * @param reader owns the file
 * @param paths the elements of the schema that lead to each column, without the root
 */
record OpenedFile(
        CheckedFile file, ParquetFileReader reader, HardwoodContext context, List<List<SchemaElement>> paths) {
    static OpenedFile of(Path path, HardwoodContext context) throws IOException {
        CheckedFile file = new CheckedFile(path);
        ParquetFileReader reader = ParquetFileReader.open(file, context);
        return new OpenedFile(
                file, reader, context, paths(reader.getFileMetaData().schema()));
    }

    private static List<List<SchemaElement>> paths(List<SchemaElement> schema) {
        List<List<SchemaElement>> paths = new ArrayList<>();
        Deque<SchemaElement> above = new ArrayDeque<>();
        Deque<Integer> left = new ArrayDeque<>();
        left.push(children(schema.get(0)));
        for (SchemaElement element : schema.subList(1, schema.size())) {
            while (!left.isEmpty() && left.peek() == 0) {
                left.pop();
                above.pollLast();
            }
            if (left.isEmpty()) {
                break;
            }
            left.push(left.pop() - 1);
            above.addLast(element);
            if (element.isPrimitive()) {
                paths.add(List.copyOf(above));
                above.removeLast();
            } else {
                left.push(children(element));
            }
        }
        return paths;
    }

    private static int children(SchemaElement element) {
        return element.numChildren() == null ? 0 : element.numChildren();
    }

    /** Returns a reader with one column of the file, as number 0. It needs no closing. */
    ParquetFileReader only(int column) {
        FileMetaData whole = reader.getFileMetaData();
        List<SchemaElement> schema = new ArrayList<>();
        schema.add(alone(whole.schema().get(0)));
        SchemaElement above = whole.schema().get(0);
        for (SchemaElement element : paths.get(column)) {
            if (element.repetitionType() == RepetitionType.REPEATED && !isListOrMap(above)) {
                schema.add(list(above));
            }
            schema.add(alone(element));
            above = element;
        }
        List<RowGroup> groups = whole.rowGroups().stream()
                .map(group ->
                        new RowGroup(List.of(group.columns().get(column)), group.totalByteSize(), group.numRows()))
                .filter(OpenedFile::hasPages)
                .toList();
        FileMetaData one = new FileMetaData(
                whole.version(),
                schema,
                whole.numRows(),
                groups,
                whole.keyValueMetadata(),
                whole.createdBy(),
                List.of());
        try {
            Constructor<ParquetFileReader> constructor = ParquetFileReader.class.getDeclaredConstructor(
                    List.class,
                    FileMetaData.class,
                    FileSchema.class,
                    HardwoodContextImpl.class,
                    boolean.class,
                    boolean.class);
            constructor.setAccessible(true);
            return constructor.newInstance(
                    List.<InputFile>of(file), one, FileSchema.fromSchemaElements(schema), context, false, false);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("another version of the library", e);
        }
    }

    /** Returns whether a row group has pages; that of an empty batch has none, and the library looks for one. */
    private static boolean hasPages(RowGroup group) {
        return group.numRows() != 0 || group.columns().get(0).metaData().numValues() != 0;
    }

    /** Returns the dictionary of a column in a row group; null if there is none. */
    @Nullable
    Dictionary dictionary(ColumnChunk chunk, ColumnSchema schema, ColumnPages pages) throws IOException {
        ByteBuffer page = pages.dictionary();
        return page == null
                ? null
                : DictionaryParser.parse(page.duplicate(), schema, chunk.metaData(), (HardwoodContextImpl) context);
    }

    private static boolean isListOrMap(SchemaElement group) {
        ConvertedType converted = group.convertedType();
        return group.logicalType() instanceof LogicalType.ListType
                || group.logicalType() instanceof LogicalType.MapType
                || converted == ConvertedType.LIST
                || converted == ConvertedType.MAP
                || converted == ConvertedType.MAP_KEY_VALUE;
    }

    /** Returns a group that is always there and marks the next element as a list: the library takes the empty ones of others for nulls. */
    private static SchemaElement list(SchemaElement like) {
        return new SchemaElement(
                "list",
                null,
                null,
                RepetitionType.REQUIRED,
                1,
                ConvertedType.LIST,
                null,
                null,
                like.fieldId(),
                new LogicalType.ListType());
    }

    /** Returns an element for a schema of one column: a group has one child, and is a struct or list; a name has no dot. */
    private static SchemaElement alone(SchemaElement element) {
        boolean isGroup = element.isGroup();
        boolean isList = isGroup && isListOrMap(element);
        LogicalType ofGroup = isList ? new LogicalType.ListType() : null;
        ConvertedType convertedOfGroup = isList ? ConvertedType.LIST : null;
        return new SchemaElement(
                element.name().isEmpty() ? "_" : element.name().replace('.', '_'),
                element.type(),
                element.typeLength(),
                element.repetitionType(),
                isGroup ? Integer.valueOf(1) : element.numChildren(),
                isGroup ? convertedOfGroup : element.convertedType(),
                element.scale(),
                element.precision(),
                element.fieldId(),
                isGroup ? ofGroup : element.logicalType());
    }
}
