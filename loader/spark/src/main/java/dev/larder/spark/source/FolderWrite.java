package dev.larder.spark.source;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.jspecify.annotations.Nullable;

/** Writes the parts of a folder in tasks, and commits them together. */
final class FolderWrite implements SupportsTruncate, Write, BatchWrite {
    private static final String SHAPE = "shape.";

    private final String path;
    private final LogicalWriteInfo info;
    private boolean isOverwriting;

    FolderWrite(String path, LogicalWriteInfo info) {
        this.path = path;
        this.info = info;
    }

    /** What a task has written. */
    record PartDone(String name, long rows) implements WriterCommitMessage {
        private static final long serialVersionUID = 1;
    }

    @Override
    public WriteBuilder truncate() {
        isOverwriting = true;
        return this;
    }

    @Override
    public Write build() {
        Schema schema = schema();
        SavedFolder folder = SavedFolder.at(path);
        if (!isOverwriting && folder.parts().isEmpty() && folder.isOccupied()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "files of others are in this folder, and no dataset")
                    .with("folder", path)
                    .remedy("name another folder");
        }
        if (!isOverwriting && !folder.parts().isEmpty()) {
            requireSame(folder.schema(), schema);
        }
        return this;
    }

    @Override
    public BatchWrite toBatch() {
        return this;
    }

    private Schema schema() {
        StructType types = info.schema();
        List<String> shaped = info.options().keySet().stream()
                .filter(key -> key.startsWith(SHAPE))
                .map(key -> key.substring(SHAPE.length()))
                .toList();
        List<String> columns = Stream.of(types.fieldNames())
                .map(name -> name.toLowerCase(Locale.ROOT))
                .toList();
        for (String column : shaped) {
            if (!columns.contains(column)) {
                throw Failure.of(ErrorCode.USAGE, "a shape is of no column")
                        .with("option", SHAPE + column)
                        .with("columns", columns)
                        .remedy("name a column that is written");
            }
        }
        List<Field> fields = new ArrayList<>();
        for (StructField field : types.fields()) {
            fields.add(ArrowColumn.field(field, shape(info.options().get(SHAPE + field.name()), field.name())));
        }
        return new Schema(fields);
    }

    private static List<Integer> shape(@Nullable String text, String column) {
        if (text == null) {
            return List.of();
        }
        if (!text.matches("[1-9]\\d{0,8}(\\s*,\\s*[1-9]\\d{0,8}){0,7}")) {
            throw Failure.of(ErrorCode.USAGE, "a shape is numbers with commas between")
                    .with("option", SHAPE + column)
                    .with("value", text)
                    .remedy("give such as 28,28");
        }
        return Arrays.stream(text.split("\\s*,\\s*", -1)).map(Integer::valueOf).toList();
    }

    private void requireSame(Schema there, Schema here) {
        if (!there.getFields().equals(here.getFields())) {
            throw Failure.of(ErrorCode.BAD_INPUT, "these columns are not those of the folder")
                    .with("folder", path)
                    .with("there", there)
                    .with("here", here)
                    .remedy("write the same columns, types and shapes, or name another folder");
        }
    }

    @Override
    public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo physical) {
        SavedFolder.at(path).begin();
        return new PartWriterFactory(
                path,
                write(),
                physical.numPartitions(),
                schema().toJson(),
                info.schema(),
                new SerializableConfiguration(
                        SparkSession.active().sparkContext().hadoopConfiguration()));
    }

    /** Names this write in the names of its parts. */
    private String write() {
        return info.queryId().replace("-", "");
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
        SavedFolder folder = SavedFolder.at(path);
        List<SavedFolder.Part> parts = new ArrayList<>(isOverwriting ? List.of() : folder.parts());
        int before = parts.size();
        for (WriterCommitMessage message : messages) {
            PartDone done = (PartDone) message;
            if (done.rows() > 0) {
                parts.add(new SavedFolder.Part(done.name(), done.rows()));
            }
        }
        if (parts.size() == before && before == 0 && messages.length > 0) {
            PartDone done = (PartDone) messages[0]; // it has the columns, at least
            parts.add(new SavedFolder.Part(done.name(), 0));
        }
        folder.commit(parts, write());
    }

    @Override
    public void abort(WriterCommitMessage[] messages) {
        SavedFolder.at(path).abort(write());
    }
}
