package dev.larder.readers.parquet;

import dev.hardwood.HardwoodContext;
import dev.hardwood.InputFile;
import dev.hardwood.internal.reader.HardwoodContextImpl;
import dev.hardwood.metadata.ConvertedType;
import dev.hardwood.metadata.FileMetaData;
import dev.hardwood.metadata.LogicalType;
import dev.hardwood.metadata.RowGroup;
import dev.hardwood.metadata.SchemaElement;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.schema.FileSchema;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

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

    /** Returns a reader in which a column of the file is the only one, number 0. It needs no closing. */
    ParquetFileReader only(int column) {
        FileMetaData whole = reader.getFileMetaData();
        List<SchemaElement> schema = new ArrayList<>();
        schema.add(alone(whole.schema().get(0)));
        paths.get(column).forEach(element -> schema.add(alone(element)));
        List<RowGroup> groups = whole.rowGroups().stream()
                .map(group ->
                        new RowGroup(List.of(group.columns().get(column)), group.totalByteSize(), group.numRows()))
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

    /** Returns an element for a schema of one column: a group has one child; a name has no dot; annotations of groups go, except lists. */
    private static SchemaElement alone(SchemaElement element) {
        boolean isGroup = element.isGroup();
        LogicalType logical = element.logicalType();
        ConvertedType converted = element.convertedType();
        return new SchemaElement(
                element.name().isEmpty() ? "_" : element.name().replace('.', '_'),
                element.type(),
                element.typeLength(),
                element.repetitionType(),
                isGroup ? Integer.valueOf(1) : element.numChildren(),
                isGroup && converted != ConvertedType.LIST ? null : converted,
                element.scale(),
                element.precision(),
                element.fieldId(),
                isGroup && !(logical instanceof LogicalType.ListType) ? null : logical);
    }
}
