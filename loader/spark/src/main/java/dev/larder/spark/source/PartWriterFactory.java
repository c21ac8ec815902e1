package dev.larder.spark.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;

/**
 * Makes writers in executors. Each attempt of a task has a file of its own, so that none waits for, or spoils, what another one left.
 *
 * @param write names the write
 * @param tasks how many there are
 * @param schema Arrow's, as JSON
 */
record PartWriterFactory(
        String path, String write, int tasks, String schema, StructType types, SerializableConfiguration configuration)
        implements DataWriterFactory {
    private static final long serialVersionUID = 1;

    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task) {
        SavedFolder folder = SavedFolder.at(path, configuration.value());
        Path file = folder.file(String.format(
                Locale.ROOT,
                "%s%05d-of-%05d-%d-%s%s",
                SavedFolder.PREFIX,
                partition,
                tasks,
                task,
                write,
                SavedFolder.SUFFIX));
        try {
            return new PartWriter(folder.files(), file, Schema.fromJSON(schema), types);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
